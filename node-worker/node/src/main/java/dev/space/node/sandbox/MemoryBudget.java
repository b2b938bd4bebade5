package dev.space.node.sandbox;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import java.util.HashMap;
import java.util.Map;

/** Memory promised to VMs; no more is promised than the node has. */
public final class MemoryBudget {

    /** What a VMM needs beside its guest's memory. */
    public static final long OVERHEAD_BYTES = 256L << 20;

    private final long total;
    private final Map<SessionId, Long> promised = new HashMap<>();

    public MemoryBudget(long totalBytes) {
        this.total = totalBytes;
    }

    /** Promises a VM's memory, or fails with {@code NO_CAPACITY}; asking twice promises once. */
    public synchronized void reserve(SessionId session, Size size) {
        long bytes = bytes(size);
        long others = sum() - promised.getOrDefault(session, 0L);
        if (others + bytes > total) {
            throw new SpaceException(
                    ErrorCode.NO_CAPACITY,
                    "%d of %d MiB of memory are taken; size %s needs %d MiB"
                            .formatted(others >> 20, total >> 20, size.wireName(), bytes >> 20));
        }
        promised.put(session, bytes);
    }

    /** Counts an adopted VM, whatever the total is now. */
    synchronized void adopt(SessionId session, Size size) {
        promised.put(session, bytes(size));
    }

    public synchronized void free(SessionId session) {
        promised.remove(session);
    }

    public synchronized long freeBytes() {
        return Math.max(0, total - sum());
    }

    public long totalBytes() {
        return total;
    }

    private long sum() {
        return promised.values().stream().mapToLong(Long::longValue).sum();
    }

    private static long bytes(Size size) {
        return ((long) size.memoryMiB() << 20) + OVERHEAD_BYTES;
    }
}
