package dev.space.node.engine.qemu;

import dev.space.guest.channel.Gate;
import dev.space.guest.channel.GuestChannel;
import dev.space.guest.channel.GuestClient;
import dev.space.guest.channel.Handshake;
import dev.space.guest.channel.Token;
import dev.space.guest.protocol.Reply;
import dev.space.guest.protocol.Request;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.reports.Backoff;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one guest's daemon: opened before a restore loads, shaken hands at its start,
 * gated around every stop, and opened again when it breaks.
 */
final class GuestLink implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GuestLink.class);

    static final Duration CALL_TIMEOUT = Duration.ofSeconds(15);

    /** A port can stay stuck after a restore; then a new connection helps. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);

    /** An answer that took longer leaves the guest's clock behind; below it is slewed anyway. */
    private static final Duration CLOCK_AGE_MAX = Duration.ofMillis(500);

    private static final Duration ANSWER_TIMEOUT_MAX = Duration.ofSeconds(8);
    private static final Duration RETRY_FIRST = Duration.ofMillis(20);
    private static final Duration RETRY_MAX = Duration.ofSeconds(2);

    private volatile Path socket;
    private volatile Token token;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable GuestChannel channel;
    private volatile boolean ready;
    private volatile boolean closed;
    private volatile @Nullable GuestChannel watched;

    /** The token is the one that counts once the first handshake was answered. */
    GuestLink(Path socket, Token token) {
        this.socket = socket;
        this.token = token;
    }

    /** Another place of the same socket, and what counts after the next handshake. */
    void expect(Path place, Token next) {
        socket = place;
        token = next;
    }

    /** Connects without a word, as must be done before device state is loaded. */
    void connect() {
        lock.lock();
        try {
            GuestChannel old = channel;
            if (old != null) {
                old.close();
            }
            channel = GuestChannel.open(ShortPath.connect(socket));
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the guest's socket accepts nobody", e);
        } finally {
            lock.unlock();
        }
    }

    /** Shakes hands until an answer comes or the time is over; answers to the requests. */
    List<Reply> begin(Handshake first, List<Request> requests, Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        Handshake handshake = first;
        Duration wait = ANSWER_TIMEOUT;
        while (true) {
            try {
                if (channel == null) {
                    connect();
                }
                long sent = System.nanoTime();
                List<Reply> replies = raw().handshake(handshake, requests, wait);
                if (System.nanoTime() - sent > CLOCK_AGE_MAX.toNanos()) {
                    // It lay in the port while the machine booted, and its clock grew old there.
                    raw().handshake(Handshake.reconnect(token), CALL_TIMEOUT);
                }
                established();
                return replies;
            } catch (SpaceException e) {
                if (System.nanoTime() > end || closed) {
                    throw new SpaceException(
                            ErrorCode.GUEST_UNREACHABLE,
                            "the guest's daemon gave no answer within " + atMost.toSeconds() + " s",
                            e);
                }
                LOG.debug("the guest does not answer yet", e);
                handshake = handshake.again();
                wait = wait.multipliedBy(2);
                wait = wait.compareTo(ANSWER_TIMEOUT_MAX) > 0 ? ANSWER_TIMEOUT_MAX : wait;
                reset();
            }
        }
    }

    private void reset() {
        lock.lock();
        try {
            GuestChannel old = channel;
            channel = null;
            if (old != null) {
                old.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private void established() {
        ready = true;
        GuestChannel now = raw();
        if (watched == now) {
            return; // hands were shaken again on the same connection
        }
        watched = now;
        var _ =
                now.ended()
                        .thenAccept(why ->
                                Thread.ofVirtual()
                                        .name("guest-link")
                                        .start(() -> reopen(now, why)));
    }

    private void reopen(GuestChannel broken, SpaceException why) {
        if (closed || channel != broken) {
            return;
        }
        LOG.info("the channel to a guest broke and is opened again: {}", why.getMessage());
        Backoff backoff = new Backoff(RETRY_FIRST, RETRY_MAX);
        while (!closed) {
            try {
                reset();
                var _ = begin(Handshake.reconnect(token), List.of(), CALL_TIMEOUT);
                return;
            } catch (SpaceException e) {
                LOG.debug("the channel is not back yet", e);
            }
            try {
                backoff.sleep();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private GuestChannel raw() {
        GuestChannel now = channel;
        if (now == null) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the guest's channel is being opened");
        }
        return now;
    }

    /** The channel, when hands were shaken. */
    GuestChannel channel() {
        if (!ready || closed) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the guest's daemon cannot be reached");
        }
        return raw();
    }

    GuestClient client() {
        return new GuestClient(channel(), CALL_TIMEOUT);
    }

    boolean isReady() {
        return ready;
    }

    Token token() {
        return token;
    }

    /** Holds all traffic back; null when there is no connection to hold. */
    @Nullable Gate gate() {
        GuestChannel now = channel;
        return now == null || !now.isOpen() ? null : now.gate();
    }

    @Override
    public void close() {
        closed = true;
        reset();
    }
}
