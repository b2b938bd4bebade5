package dev.space.gateway.control;

import dev.space.gateway.events.EventQueue;
import dev.space.gatewayapi.v1.Event;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The one reader of the queue. Sends what the reader takes, and begins where it acknowledged. */
final class EventStreams {

    private final EventQueue queue;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ServerCallStreamObserver<Event> reader;
    private long sent;

    EventStreams(EventQueue queue) {
        this.queue = queue;
        queue.wakes(this::send);
    }

    /** Ends the former reader. */
    void open(ServerCallStreamObserver<Event> next) {
        lock.lock();
        try {
            ServerCallStreamObserver<Event> former = reader;
            if (former != null && !former.isCancelled()) {
                former.onError(
                        Status.ABORTED
                                .withDescription("another reader took over")
                                .asRuntimeException());
            }
            reader = next;
            sent = queue.acknowledged();
            next.setOnCancelHandler(() -> left(next));
            next.setOnReadyHandler(this::send);
        } finally {
            lock.unlock();
        }
        send();
    }

    private void left(ServerCallStreamObserver<Event> gone) {
        lock.lock();
        try {
            if (gone.equals(reader)) {
                reader = null;
            }
        } finally {
            lock.unlock();
        }
    }

    private void send() {
        lock.lock();
        try {
            ServerCallStreamObserver<Event> to = reader;
            while (to != null && to.isReady() && !to.isCancelled()) {
                Event event = queue.after(sent);
                if (event == null) {
                    return;
                }
                sent = event.getSequence();
                to.onNext(event);
            }
        } finally {
            lock.unlock();
        }
    }
}
