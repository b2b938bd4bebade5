package dev.space.objects;

import java.net.URI;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/** A running server on loopback. */
public final class ObjectServer implements AutoCloseable {

    /** The server holds a request's body in memory to check its signature; ours are below 9 MiB. */
    private static final long BODY_BYTES_MAX = 80L << 20;

    private static final int THREADS_MAX = 16;
    private static final long STOP_MILLIS_MAX = 5_000;

    private final S3Proxy proxy;

    private ObjectServer(S3Proxy proxy) {
        this.proxy = proxy;
    }

    /**
     * Starts a server over a directory.
     *
     * @param port 0 takes a free one
     */
    public static ObjectServer start(Path data, int port, String accessKey, String secretKey)
            throws Exception {
        Path root = data.toRealPath();
        S3Proxy proxy =
                S3Proxy.builder()
                        .blobStore(
                                new SyncedBlobStore(
                                        new FilesystemNio2BlobStore(root.toString()), root))
                        .endpoint(URI.create("http://127.0.0.1:" + port))
                        .awsAuthentication(AuthenticationType.AWS_V4, accessKey, secretKey)
                        .v4MaxNonChunkedRequestSize(BODY_BYTES_MAX)
                        .jettyMaxThreads(THREADS_MAX)
                        .stopTimeout(STOP_MILLIS_MAX)
                        .build();
        proxy.start();
        return new ObjectServer(proxy);
    }

    public int port() {
        return proxy.getPort();
    }

    @Override
    public void close() {
        try {
            proxy.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the object server did not stop", e);
        }
    }
}
