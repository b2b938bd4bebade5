package dev.space.node.api;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.volumes.DiskFull;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a failure is in the words of the catalogue, for both ways by which the node is called. */
final class Failures {

    private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

    private Failures() {}

    static SpaceException known(Throwable failure) {
        if (failure instanceof SpaceException known) {
            return known;
        }
        if (failure instanceof IllegalArgumentException) {
            return new SpaceException(
                    ErrorCode.INVALID_ARGUMENT, String.valueOf(failure.getMessage()), failure);
        }
        if (DiskFull.is(failure)) {
            LOG.warn("a call found a disk of this node full", failure);
            return new SpaceException(
                    ErrorCode.NODE_DISK_FULL,
                    "a disk of the node is full; free space on it, its log says where",
                    failure);
        }
        LOG.error("a call failed with no code of the catalogue", failure);
        return new SpaceException(
                ErrorCode.INTERNAL, "the node failed; its log has the cause", failure);
    }
}
