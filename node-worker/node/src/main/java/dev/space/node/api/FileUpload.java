package dev.space.node.api;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.DataSource;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.WriteFileRequest;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * A file that arrives in pieces. The next piece is asked for only when the guest took the one
 * before, so that memory stays bounded whatever the file's size.
 */
final class FileUpload implements StreamObserver<WriteFileRequest>, DataSource {

    /** Writes the file: the header first, then pieces until the source ends. */
    interface Target {
        FileInfo write(WriteFileRequest.Header header, DataSource source);
    }

    /** What can come next: data, the end, or the sender's failure. */
    private record Arrival(@Nullable ByteString data, boolean failed) {}

    private final ServerCallStreamObserver<FileInfo> caller;
    private final Target target;
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    private boolean begun;
    private long bytes;

    FileUpload(StreamObserver<FileInfo> caller, Target target) {
        this.caller = (ServerCallStreamObserver<FileInfo>) caller;
        this.target = target;
        this.caller.disableAutoRequest();
        this.caller.setOnCancelHandler(() -> arrivals.add(new Arrival(null, true)));
        this.caller.request(1);
    }

    @Override
    public void onNext(WriteFileRequest message) {
        if (!begun) {
            begun = true;
            WriteFileRequest.Header header = message.getHeader();
            Thread.ofVirtual().name("write-file").start(() -> write(header));
        }
        if (message.getData().isEmpty()) {
            caller.request(1);
        } else {
            arrivals.add(new Arrival(message.getData(), false));
        }
    }

    private void write(WriteFileRequest.Header header) {
        try {
            FileInfo info = target.write(header, this);
            caller.onNext(info);
            caller.onCompleted();
        } catch (RuntimeException e) {
            if (!caller.isCancelled()) {
                caller.onError(GrpcErrors.of(e));
            }
        }
    }

    @Override
    public @Nullable ByteString next() {
        Arrival arrival;
        try {
            arrival = arrivals.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
        if (arrival.failed()) {
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the sender went away");
        }
        ByteString data = arrival.data();
        if (data != null) {
            bytes += data.size();
            if (bytes > Limits.FILE_BYTES_MAX) {
                throw new SpaceException(
                        ErrorCode.BODY_TOO_LARGE,
                        "a file has at most " + (Limits.FILE_BYTES_MAX >> 20) + " MiB");
            }
            caller.request(1);
        }
        return data;
    }

    @Override
    public void onError(Throwable failure) {
        arrivals.add(new Arrival(null, true));
    }

    @Override
    public void onCompleted() {
        if (!begun) {
            caller.onError(GrpcErrors.of(Wire.invalid("a file begins with its header")));
            return;
        }
        arrivals.add(new Arrival(null, false));
    }
}
