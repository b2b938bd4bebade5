package dev.space.node.sandbox;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Memory promised to VMs; no more is promised than the node has. What VMs that wait for a session
 * hold counts as free: they are given up for whoever needs it.
 */
public final class MemoryBudget {

    /** What a VMM needs beside its guest's memory. */
    public static final long OVERHEAD_BYTES = 256L << 20;

    private final long total;
    private final Map<SessionId, Long> promised = new HashMap<>();
    private final Map<SessionId, Long> ahead = new HashMap<>();
    private volatile BooleanSupplier giveUpOne = () -> false;

    public MemoryBudget(long totalBytes) {
        this.total = totalBytes;
    }

    /** Whom to ask when memory is short; false when nothing can be given up. */
    public void onShortage(BooleanSupplier asked) {
        giveUpOne = asked;
    }

    /** Promises a VM's memory, or fails with {@code NO_CAPACITY}; asking twice promises once. */
    public void reserve(SessionId session, Size size) {
        while (!promise(session, bytes(size))) {
            if (!giveUpOne.getAsBoolean()) {
                throw full(session, size);
            }
        }
    }

    private synchronized boolean promise(SessionId session, long bytes) {
        long others = sum(promised) - promised.getOrDefault(session, 0L);
        if (others + sum(ahead) + bytes > total) {
            return false;
        }
        promised.put(session, bytes);
        return true;
    }

    private synchronized SpaceException full(SessionId session, Size size) {
        long others = sum(promised) - promised.getOrDefault(session, 0L);
        return new SpaceException(
                ErrorCode.NO_CAPACITY,
                "%d of %d MiB of memory are taken; size %s needs %d MiB"
                        .formatted(others >> 20, total >> 20, size.wireName(), bytes(size) >> 20));
    }

    /**
     * Memory for a VM that waits for a session; false when there is none to spare.
     *
     * @param most what all such VMs may have together
     */
    public synchronized boolean reserveAhead(SessionId nobody, Size size, long most) {
        long bytes = bytes(size);
        long waiting = sum(ahead) + bytes;
        if (waiting > most || sum(promised) + waiting > total) {
            return false;
        }
        ahead.put(nobody, bytes);
        return true;
    }

    /** What waited becomes the session's. */
    public synchronized void handOver(SessionId nobody, SessionId session) {
        Long bytes = ahead.remove(nobody);
        if (bytes == null) {
            throw new IllegalStateException("invariant: no memory is held by " + nobody);
        }
        promised.put(session, bytes);
    }

    public synchronized void freeAhead(SessionId nobody) {
        ahead.remove(nobody);
    }

    /** Counts an adopted VM, whatever the total is now. */
    synchronized void adopt(SessionId session, Size size) {
        promised.put(session, bytes(size));
    }

    public synchronized void free(SessionId session) {
        promised.remove(session);
    }

    public synchronized long freeBytes() {
        return Math.max(0, total - sum(promised));
    }

    public long totalBytes() {
        return total;
    }

    private static long sum(Map<SessionId, Long> parts) {
        return parts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** What a VM of this size is promised. */
    public static long bytes(Size size) {
        return ((long) size.memoryMiB() << 20) + OVERHEAD_BYTES;
    }
}
