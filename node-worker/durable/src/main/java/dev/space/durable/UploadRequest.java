package dev.space.durable;

import java.nio.file.Path;
import java.util.Optional;

/**
 * One snapshot to make durable.
 *
 * @param lineage whose chunks may be shared
 * @param session id of the session, as text
 * @param snapshot number of the upload's row, never used for another one; names its objects
 * @param directory the published snapshot; it must not change during the call
 * @param templateFiles files that are the same, byte by byte, on every node with the template; what
 *     a file of the same name shares with them is not uploaded; may be absent or empty
 * @param previous the last durable snapshot of the lineage
 * @param previousDirectory its copy on this node, if still there; only makes the upload faster
 */
public record UploadRequest(
        LineageId lineage,
        LineageKey key,
        String session,
        long snapshot,
        Path directory,
        Path templateFiles,
        Optional<DurableSnapshot> previous,
        Optional<Path> previousDirectory) {

    public UploadRequest {
        if (session.isEmpty() || session.length() > 64 || !session.matches("[a-z0-9_]+")) {
            throw new IllegalArgumentException("session " + session);
        }
        if (snapshot < 0) {
            throw new IllegalArgumentException("snapshot " + snapshot);
        }
    }
}
