package dev.space.bench.floor;

import io.minio.GetObjectArgs;
import io.minio.MinioClient;
import io.minio.PutObjectArgs;
import io.minio.RemoveObjectArgs;
import io.minio.errors.MinioException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The platform's object store without the platform: so many bytes there and back. */
public final class RawStore implements AutoCloseable {

    /** As large as the packs of a snapshot. */
    private static final int OBJECT_BYTES = 8 << 20;

    private static final int AT_ONCE = 4;
    private static final String PREFIX = "bench/";

    private final MinioClient client;
    private final String bucket;
    private final byte[] content = new byte[OBJECT_BYTES];
    private final ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    private final List<String> there = new ArrayList<>();

    private RawStore(MinioClient client, String bucket) {
        this.client = client;
        this.bucket = bucket;
        // The seed makes every run write the same; nothing of it can be compressed.
        new Random(1).nextBytes(content);
    }

    /** Of the node with this configuration. */
    public static RawStore open(Properties node) throws IOException {
        Path secret = Path.of(node.getProperty("space.object-store.secret-key-file", ""));
        MinioClient client =
                MinioClient.builder()
                        .endpoint(node.getProperty("space.object-store.endpoint"))
                        .region(node.getProperty("space.object-store.region", "us-east-1"))
                        .credentials(
                                node.getProperty("space.object-store.access-key"),
                                Files.readString(secret).strip())
                        .build();
        return new RawStore(client, node.getProperty("space.object-store.bucket", "space"));
    }

    /** Writes that many bytes, in objects of a pack's size. */
    public Duration put(long bytes) throws Exception {
        long began = System.nanoTime();
        List<Future<?>> running = new ArrayList<>();
        for (long left = bytes; left > 0; left -= OBJECT_BYTES) {
            String name = PREFIX + ProcessHandle.current().pid() + "-" + there.size();
            int length = (int) Math.min(left, OBJECT_BYTES);
            there.add(name);
            running.add(threads.submit(() -> write(name, length)));
        }
        await(running);
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private boolean write(String name, int length) throws Exception {
        client.putObject(
                PutObjectArgs.builder().bucket(bucket).object(name).stream(
                                new ByteArrayInputStream(content, 0, length), (long) length, -1L)
                        .build());
        return true;
    }

    /** Reads that many bytes, from what was written last, from its begin again where needed. */
    public Duration get(long bytes) throws Exception {
        if (there.isEmpty()) {
            throw new IllegalStateException("nothing was written that could be read");
        }
        long began = System.nanoTime();
        List<Future<?>> running = new ArrayList<>();
        int next = 0;
        for (long left = bytes; left > 0; left -= OBJECT_BYTES) {
            String name = there.get(next++ % there.size());
            running.add(threads.submit(() -> read(name)));
        }
        await(running);
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private boolean read(String name) throws Exception {
        try (InputStream in =
                client.getObject(GetObjectArgs.builder().bucket(bucket).object(name).build())) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return true;
    }

    private static void await(List<Future<?>> running) throws Exception {
        for (Future<?> each : running) {
            try {
                each.get();
            } catch (ExecutionException e) {
                throw new IOException("the object store: " + e.getCause(), e);
            }
        }
    }

    /** Removes what was written. */
    public void clear() throws IOException {
        for (String name : there) {
            try {
                client.removeObject(RemoveObjectArgs.builder().bucket(bucket).object(name).build());
            } catch (MinioException | GeneralSecurityException e) {
                throw new IOException("the object store keeps " + name, e);
            }
        }
        there.clear();
    }

    @Override
    public void close() throws IOException {
        threads.shutdown();
        clear();
    }
}
