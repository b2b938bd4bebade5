package dev.space.durable;

import io.minio.BucketExistsArgs;
import io.minio.GetObjectArgs;
import io.minio.ListObjectsArgs;
import io.minio.MakeBucketArgs;
import io.minio.MinioClient;
import io.minio.PutObjectArgs;
import io.minio.RemoveObjectArgs;
import io.minio.Result;
import io.minio.StatObjectArgs;
import io.minio.errors.MinioException;
import io.minio.messages.Item;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import okhttp3.OkHttpClient;
import org.jspecify.annotations.Nullable;

/**
 * An S3 server through the MinIO SDK. Objects are written by single requests only: the precondition
 * of a multipart upload is not sent by the SDK. A request that may be sent twice is tried a few
 * times; longer outages are the caller's business.
 */
final class S3ObjectStore implements ObjectStore {

    private static final int TRIES = 3;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
    private static final Duration SILENCE_MAX = Duration.ofSeconds(60);

    /** Larger than any object here, so that the SDK never cuts one. */
    private static final long PART_BYTES = 128L << 20;

    private static final Map<String, String> UNLESS_THERE = Map.of("If-None-Match", "*");

    private final S3Settings settings;
    private @Nullable MinioClient made;
    private volatile boolean bucketSeen;

    S3ObjectStore(S3Settings settings) {
        this.settings = settings;
    }

    /**
     * Made at the first use: loading the SDK takes half a second that a start need not wait for.
     */
    private synchronized MinioClient client() {
        MinioClient there = made;
        if (there == null) {
            there =
                    MinioClient.builder()
                            .endpoint(settings.endpoint())
                            .region(settings.region())
                            .credentials(settings.accessKey(), settings.secretKey().text())
                            .httpClient(
                                    new OkHttpClient.Builder()
                                            .connectTimeout(CONNECT_MAX)
                                            .readTimeout(SILENCE_MAX)
                                            .writeTimeout(SILENCE_MAX)
                                            .build())
                            .build();
            made = there;
        }
        return there;
    }

    /** One call of the SDK. */
    @FunctionalInterface
    private interface Call<T> {
        T run() throws MinioException, IOException, GeneralSecurityException;
    }

    private <T> T call(String what, Call<T> call) {
        for (int attempt = 1; ; attempt++) {
            try {
                requireBucket();
                return call.run();
            } catch (MinioException | IOException e) {
                S3Failure failure = S3Failure.of(e);
                if (attempt == TRIES || !failure.isWorthRepeating()) {
                    throw failure.toException(what + " at " + settings.endpoint(), e);
                }
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this JDK cannot sign S3 requests", e);
            }
            LockSupport.parkNanos(FIRST_PAUSE.toNanos() << (attempt - 1));
        }
    }

    private void requireBucket() throws MinioException, IOException, GeneralSecurityException {
        if (bucketSeen) {
            return;
        }
        String bucket = settings.bucket();
        if (!client().bucketExists(BucketExistsArgs.builder().bucket(bucket).build())) {
            try {
                client().makeBucket(MakeBucketArgs.builder().bucket(bucket).build());
            } catch (MinioException e) {
                // Another node was faster.
                if (!client().bucketExists(BucketExistsArgs.builder().bucket(bucket).build())) {
                    throw e;
                }
            }
        }
        bucketSeen = true;
    }

    @Override
    public void put(String key, byte[] bytes, int length) {
        var _ = call("write " + key, () -> client().putObject(object(key, bytes, length).build()));
    }

    private PutObjectArgs.Builder object(String key, byte[] bytes, int length) {
        return PutObjectArgs.builder()
                .bucket(settings.bucket())
                .object(key)
                .contentType("application/octet-stream")
                .stream(new ByteArrayInputStream(bytes, 0, length), length, PART_BYTES);
    }

    @Override
    public boolean putIfAbsent(String key, byte[] bytes) {
        return call(
                "write " + key,
                () -> {
                    try {
                        var _ =
                                client().putObject(
                                                object(key, bytes, bytes.length)
                                                        .headers(UNLESS_THERE)
                                                        .build());
                        return true;
                    } catch (MinioException e) {
                        if (S3Failure.of(e).isAlreadyThere()) {
                            return false;
                        }
                        throw e;
                    }
                });
    }

    @Override
    public Optional<Stat> stat(String key) {
        return call(
                "look at " + key,
                () -> {
                    try {
                        var stat =
                                client().statObject(
                                                StatObjectArgs.builder()
                                                        .bucket(settings.bucket())
                                                        .object(key)
                                                        .build());
                        return Optional.of(new Stat(stat.size(), stat.etag().replace("\"", "")));
                    } catch (MinioException e) {
                        if (S3Failure.of(e).isNotThere()) {
                            return Optional.<Stat>empty();
                        }
                        throw e;
                    }
                });
    }

    @Override
    public int read(String key, long offset, int length, byte[] into) {
        if (length == 0) {
            return stat(key).isPresent() ? 0 : -1;
        }
        return call(
                "read " + key,
                () -> {
                    GetObjectArgs range =
                            GetObjectArgs.builder()
                                    .bucket(settings.bucket())
                                    .object(key)
                                    .offset(offset)
                                    .length((long) length)
                                    .build();
                    try (InputStream in = client().getObject(range)) {
                        return in.readNBytes(into, 0, length);
                    } catch (MinioException e) {
                        S3Failure failure = S3Failure.of(e);
                        if (failure.isNotThere()) {
                            return -1;
                        }
                        if (failure.isBeyondEnd()) {
                            return 0;
                        }
                        throw e;
                    }
                });
    }

    @Override
    public void list(String prefix, Consumer<Listed> each) {
        ListObjectsArgs args =
                ListObjectsArgs.builder()
                        .bucket(settings.bucket())
                        .prefix(prefix)
                        .recursive(true)
                        .build();
        // Not tried again as a whole: the caller would see objects twice.
        try {
            requireBucket();
            for (Result<Item> result : client().listObjects(args)) {
                Item item = result.get();
                each.accept(
                        new Listed(
                                item.objectName(), item.size(), item.lastModified().toInstant()));
            }
        } catch (MinioException | IOException e) {
            throw S3Failure.of(e).toException("list " + prefix + " at " + settings.endpoint(), e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK cannot sign S3 requests", e);
        }
    }

    @Override
    public void delete(String key) {
        var _ =
                call(
                        "remove " + key,
                        () -> {
                            client().removeObject(
                                            RemoveObjectArgs.builder()
                                                    .bucket(settings.bucket())
                                                    .object(key)
                                                    .build());
                            return key;
                        });
    }
}
