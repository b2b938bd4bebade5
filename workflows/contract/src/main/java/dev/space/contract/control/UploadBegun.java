package dev.space.contract.control;

import dev.space.contract.session.DurableRef;
import dev.space.model.OperationId;
import org.jspecify.annotations.Nullable;

/**
 * What an upload starts from.
 *
 * @param written false: the fence of the row refused the write
 * @param tombstone the DESTROY that is wanted, when that was the reason
 * @param upload number of the upload; the same for every attempt of one operation
 * @param lineage whose key it is sealed with
 * @param previous the newest of the lineage that is stored whole; only what changed since is sent
 * @param complete this very snapshot is stored whole already
 */
public record UploadBegun(
        boolean written,
        @Nullable OperationId tombstone,
        long upload,
        String lineage,
        @Nullable DurableRef previous,
        @Nullable DurableRef complete) {}
