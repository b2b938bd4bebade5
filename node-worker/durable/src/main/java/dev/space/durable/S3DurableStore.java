package dev.space.durable;

import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The durable store over any S3 server. */
public final class S3DurableStore implements DurableStore, AutoCloseable {

    /** What all transfers of a node share. */
    record Parts(
            ObjectStore store,
            PackBuffers buffers,
            ExecutorService executor,
            Fingerprints fingerprints) {}

    private final Parts parts;

    /** Connects at the first use only. */
    public S3DurableStore(S3Settings settings) {
        this(new S3ObjectStore(settings), Format.PACK_BYTES);
    }

    S3DurableStore(ObjectStore store, int packBytes) {
        // Bounded by the buffers: each part of a transfer holds one.
        this.parts =
                new Parts(
                        store,
                        new PackBuffers(packBytes),
                        Executors.newVirtualThreadPerTaskExecutor(),
                        new Fingerprints());
    }

    @Override
    public DurableSnapshot upload(UploadRequest request, TransferControl control) {
        return new Upload(parts, request, control).run();
    }

    @Override
    public void download(
            DurableSnapshot snapshot,
            LineageKey key,
            Path staging,
            Path templateFiles,
            TransferControl control) {
        LineageId lineage = lineage(snapshot);
        LineageKeys keys = LineageKeys.of(lineage, key);
        new Download(parts, lineage, keys, staging, templateFiles, control).run(snapshot);
    }

    @Override
    public Verification verify(DurableSnapshot snapshot, LineageKey key, TransferControl control) {
        LineageId lineage = lineage(snapshot);
        return new Verify(parts, lineage, LineageKeys.of(lineage, key), control).run(snapshot);
    }

    /**
     * Checks without a key: the manifest is the one that was published, and each pack that it names
     * is there with its length. What is in them only {@link #verify} can tell.
     *
     * @param digest the manifest's, as its row has it
     */
    public Verification inspect(String manifestKey, String digest) {
        return Inspection.run(parts.store(), manifestKey, digest);
    }

    private static LineageId lineage(DurableSnapshot snapshot) {
        String key = snapshot.manifestKey();
        return Names.owner(key)
                .filter(_ -> Names.isManifest(key))
                .orElseThrow(() -> Corruption.of(key + " is not the name of a manifest"))
                .lineage();
    }

    /** For tests: whether every buffer came back. */
    PackBuffers buffers() {
        return parts.buffers();
    }

    @Override
    public void close() {
        parts.executor().close();
    }
}
