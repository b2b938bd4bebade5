package dev.space.durable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;

/** A store, a node's directory, a template and a key, for one test. */
final class Scene implements AutoCloseable {

    static final LineageId LINEAGE = new LineageId("ses_lineage");

    /** Small, so that few bytes make many packs. */
    static final int PACK_BYTES = 4 * Format.CHUNK_BYTES;

    final MemoryObjectStore objects = new MemoryObjectStore();
    final S3DurableStore store = new S3DurableStore(objects, PACK_BYTES);
    final Random random;
    final Path root;
    final Path template;
    final LineageKey key;
    private int names;

    Scene(Path root, long seed) throws IOException {
        this.random = new Random(seed);
        this.root = root;
        this.template = Trees.template(root.resolve("template"), random);
        this.key = new LineageKey(Trees.bytes(random, LineageKey.BYTES));
    }

    Path fresh() {
        return root.resolve("d" + names++);
    }

    Path staging() throws IOException {
        return Files.createDirectory(fresh());
    }

    UploadRequest request(
            long row, Path directory, Optional<DurableSnapshot> previous, Optional<Path> copy) {
        return new UploadRequest(LINEAGE, key, "ses_one", row, directory, template, previous, copy);
    }

    DurableSnapshot upload(long row, Path directory) {
        return store.upload(
                request(row, directory, Optional.empty(), Optional.empty()), TransferControl.NONE);
    }

    Path download(DurableSnapshot snapshot) throws IOException {
        Path staging = staging();
        store.download(snapshot, key, staging, template, TransferControl.NONE);
        return staging;
    }

    @Override
    public void close() {
        store.close();
        key.close();
    }
}
