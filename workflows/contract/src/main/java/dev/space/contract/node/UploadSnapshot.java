package dev.space.contract.node;

import dev.space.contract.session.DurableRef;
import dev.space.model.SnapshotId;
import org.jspecify.annotations.Nullable;

/**
 * Copies a published snapshot to the object store, every part verified. What an earlier attempt has
 * sent is found again.
 *
 * @param upload number of the upload, the same for every attempt
 * @param lineage whose key it is sealed with; the node asks the control plane for it
 * @param previous only what changed since is sent; null: nothing of the lineage is stored
 * @param runs the session's sandbox goes on meanwhile; else one that is left is ended
 */
public record UploadSnapshot(
        StepRef ref,
        SnapshotId snapshot,
        long upload,
        String lineage,
        @Nullable DurableRef previous,
        boolean runs) {}
