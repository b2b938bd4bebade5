package dev.space.durable;

import dev.space.model.SpaceException;
import java.nio.file.Path;

/**
 * Copies published snapshots between a node's disk and the object store. Safe for use by several
 * threads; one per node. All failures are {@link SpaceException}: OBJECT_STORE_UNAVAILABLE,
 * OBJECT_STORE_FULL, SNAPSHOT_CORRUPT, NODE_DISK_FULL, or {@link TransferCancelledException}.
 */
public interface DurableStore {

    /**
     * Uploads what the store does not hold yet. Safe to repeat after any cut: it finds its finished
     * packs again. Nothing is restorable until the manifest object is there, which is written last
     * and once. Returns after every part has been verified.
     */
    DurableSnapshot upload(UploadRequest request, TransferControl control);

    /**
     * Fills an existing, empty directory with the snapshot's files. Each chunk is verified before
     * it is written, and files and directory are synced to the disk. After a failure the directory
     * is empty again.
     *
     * @param templateFiles the template's files on this node, as at the upload; a snapshot that was
     *     stored as changes against them fails with SNAPSHOT_INCOMPATIBLE where they are not there
     */
    void download(
            DurableSnapshot snapshot,
            LineageKey key,
            Path staging,
            Path templateFiles,
            TransferControl control);

    /** Reads the manifest and checks each pack and chunk; names every fault. */
    Verification verify(DurableSnapshot snapshot, LineageKey key, TransferControl control);
}
