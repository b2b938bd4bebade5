package dev.space.objects;

import dev.space.nativeabi.Durable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.s3.model.CreateBucketRequest;
import software.amazon.awssdk.services.s3.model.CreateBucketResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Makes a write last before it is answered. The file backend gives a file its name by a rename and
 * never syncs it: after a loss of power an object that was answered for could be gone or empty, and
 * a snapshot that counts as durable with it.
 */
final class SyncedBlobStore extends ForwardingBlobStore {

    private static final int FULL_STATUS = 507;

    private final Path root;

    SyncedBlobStore(BlobStore files, Path root) {
        super(files);
        this.root = root;
    }

    @Override
    public CreateBucketResponse createContainer(CreateBucketRequest request) {
        CreateBucketResponse answer = super.createContainer(request);
        sync(root.resolve(request.bucket()));
        return answer;
    }

    @Override
    public PutObjectResponse putBlob(PutObjectRequest request, InputStream body) {
        try {
            PutObjectResponse answer = super.putBlob(request, body);
            sync(root.resolve(request.bucket()).resolve(request.key()));
            return answer;
        } catch (RuntimeException e) {
            throw isFull(e) ? full(e) : e;
        }
    }

    private static boolean isFull(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            String message = String.valueOf(at.getMessage());
            if (message.contains("No space left") || message.contains("Disk quota exceeded")) {
                return true;
            }
        }
        return false;
    }

    /** Alone, the server answers a full disk as any defect of its own. */
    private static S3Exception full(RuntimeException cause) {
        return (S3Exception)
                S3Exception.builder()
                        .statusCode(FULL_STATUS)
                        .awsErrorDetails(
                                AwsErrorDetails.builder()
                                        .errorCode("InsufficientStorage")
                                        .errorMessage("No space left on the object store's disk")
                                        .build())
                        .cause(cause)
                        .build();
    }

    /** The file and each directory above it, which may be new. */
    private void sync(Path file) {
        try {
            for (Path at = file.normalize();
                    at != null && at.startsWith(root);
                    at = at.getParent()) {
                Durable.fsync(at);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make " + file + " last", e);
        }
    }
}
