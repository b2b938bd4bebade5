package dev.space.node.api;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Semaphore;

/**
 * Sends a stream no faster than its reader takes it: {@link #send} blocks while the transport is
 * full, so that memory stays bounded and the guest is held back.
 */
final class FlowSender<T> {

    private final ServerCallStreamObserver<T> caller;
    private final Semaphore wakeUps = new Semaphore(0);

    /** Must be made inside the call's own method, before it returns. */
    FlowSender(StreamObserver<T> caller) {
        this.caller = (ServerCallStreamObserver<T>) caller;
        this.caller.setOnReadyHandler(wakeUps::release);
        this.caller.setOnCancelHandler(wakeUps::release);
    }

    boolean isCancelled() {
        return caller.isCancelled();
    }

    void send(T message) {
        try {
            while (!caller.isReady()) {
                requireReader();
                wakeUps.acquire();
                wakeUps.drainPermits();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
        requireReader();
        caller.onNext(message);
    }

    private void requireReader() {
        if (caller.isCancelled()) {
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the reader went away");
        }
    }

    /** Runs the sending in a thread of its own, so that readiness can be told meanwhile. */
    void run(Runnable body) {
        Thread.ofVirtual()
                .name("grpc-stream")
                .start(() -> {
                    try {
                        body.run();
                        caller.onCompleted();
                    } catch (RuntimeException e) {
                        if (!caller.isCancelled()) {
                            caller.onError(GrpcErrors.of(e));
                        }
                    }
                });
    }
}
