package dev.space.node.engine.qemu;

import dev.space.guest.channel.GuestClient;
import dev.space.guest.protocol.Request;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ended processes that a guest need not keep any longer. To say so at once would wake the guest
 * while it starts the next command, so it is said together with that start, or a little later when
 * none comes. What is never said costs nothing: the guest drops its oldest results by itself.
 */
final class Forgetter {

    private static final Logger LOG = LoggerFactory.getLogger(Forgetter.class);
    private static final Duration LATER = Duration.ofSeconds(1);

    /** How many are told with one start. */
    private static final int TOLD_AT_ONCE = 4;

    private final GuestLink link;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<String> ids = new ArrayDeque<>();
    private boolean waiting;

    Forgetter(GuestLink link) {
        this.link = link;
    }

    void add(String id) {
        lock.lock();
        try {
            if (ids.size() >= Limits.PROCESSES_FINISHED_MAX) {
                ids.removeFirst();
            }
            ids.add(id);
            if (!waiting) {
                waiting = true;
                Thread.ofVirtual().name("forget").start(this::tellLater);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Requests to send with another one. */
    List<Request> take() {
        lock.lock();
        try {
            List<Request> requests = new ArrayList<>();
            while (!ids.isEmpty() && requests.size() < TOLD_AT_ONCE) {
                requests.add(GuestClient.getRequest(ids.removeFirst(), Duration.ZERO, true));
            }
            return requests;
        } finally {
            lock.unlock();
        }
    }

    private void tellLater() {
        try {
            Pause.of(LATER);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        lock.lock();
        try {
            waiting = false;
        } finally {
            lock.unlock();
        }
        try {
            for (List<Request> some = take(); !some.isEmpty(); some = take()) {
                for (var stream : link.channel().open(some)) {
                    try (stream) {
                        var _ = stream.reply(GuestLink.CALL_TIMEOUT);
                    }
                }
            }
        } catch (SpaceException e) {
            LOG.debug("a guest keeps some results a little longer", e);
        }
    }
}
