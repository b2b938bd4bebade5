package dev.space.node.reports;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Volume;
import dev.space.nodeapi.v1.Report;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports that the control plane has not acknowledged, on disk and in order. Bounded: when it is
 * full the oldest audit and activity records are dropped and counted; a VM's end is the last to go.
 *
 * <p>Segments are named by their first sequence. The newest one stays even when it is empty, so
 * that the sequence grows over restarts.
 */
public final class Outbox implements ReportSink, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    static final long SEGMENT_BYTES = 1 << 20;

    /** Some segments and what the rest of the state needs. */
    static final long ROOM_BYTES_MIN = 4 << 20;

    private static final String SUFFIX = ".reports";
    private static final String ACKNOWLEDGED = "acknowledged";

    private final Path directory;
    private final InstantSource clock;
    private final long bytesMax;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private final ArrayDeque<Report> pending = new ArrayDeque<>();
    private final TreeMap<Long, Path> segments = new TreeMap<>();
    private FileChannel tail;
    private long pendingBytes;
    private long next;
    private long dropped;
    private int exitsPending;
    private int wanted = Integer.MAX_VALUE;
    private boolean dirty;
    private boolean closed;

    public Outbox(Path directory, InstantSource clock, long bytesMax) {
        this.directory = directory;
        this.clock = clock;
        this.bytesMax = bytesMax;
        try {
            Files.createDirectories(directory);
            long acknowledged = readAcknowledged();
            next = acknowledged + 1;
            load(acknowledged);
            tail = openSegment();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long readAcknowledged() throws IOException {
        Path file = directory.resolve(ACKNOWLEDGED);
        return Files.exists(file) ? Long.parseLong(Files.readString(file).strip()) : 0;
    }

    private void load(long acknowledged) throws IOException {
        for (Path file : Volume.children(directory)) {
            String name = file.getFileName().toString();
            if (!name.endsWith(SUFFIX)) {
                continue;
            }
            long first = Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
            segments.put(first, file);
            next = Math.max(next, first);
        }
        for (Path file : segments.values()) {
            try (InputStream in = Files.newInputStream(file)) {
                for (Report report = read(in); report != null; report = read(in)) {
                    next = Math.max(next, report.getSequence() + 1);
                    if (report.getSequence() > acknowledged) {
                        push(report);
                    }
                }
            }
        }
    }

    /** Null at the end, and at a torn tail, which was never acknowledged to anybody. */
    private static @Nullable Report read(InputStream in) {
        try {
            return Report.parseDelimitedFrom(in);
        } catch (IOException e) {
            LOG.warn("a torn tail of the outbox is dropped", e);
            return null;
        }
    }

    private FileChannel openSegment() throws IOException {
        Path file = directory.resolve(next + SUFFIX);
        Files.deleteIfExists(file);
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try {
            DurableFiles.syncDirectory(directory);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        segments.put(next, file);
        return channel;
    }

    private void push(Report report) {
        pending.addLast(report);
        pendingBytes += report.getSerializedSize();
        exitsPending += report.hasVmExited() ? 1 : 0;
        while (pendingBytes > bytesMax && !pending.isEmpty()) {
            drop();
        }
    }

    private void drop() {
        Iterator<Report> oldest = pending.iterator();
        while (oldest.hasNext()) {
            Report report = oldest.next();
            if (!report.hasVmExited()) {
                oldest.remove();
                pendingBytes -= report.getSerializedSize();
                dropped++;
                return;
            }
        }
        removeFirst();
        dropped++;
    }

    private void removeFirst() {
        Report report = pending.removeFirst();
        pendingBytes -= report.getSerializedSize();
        exitsPending -= report.hasVmExited() ? 1 : 0;
    }

    /** What an action in a sandbox leaves must find room before the action, not after it. */
    @Override
    public void demandRoom() {
        try {
            long free = Files.getFileStore(directory).getUsableSpace();
            if (free < ROOM_BYTES_MIN) {
                throw new SpaceException(
                        ErrorCode.NODE_DISK_FULL,
                        "the disk of the node's state has %d KiB left, and nothing is done that"
                                        .formatted(free >> 10)
                                + " cannot be recorded; free space there");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void add(Report.Builder builder, boolean durable) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the outbox is closed");
            }
            // Closed: an earlier change of segments found no space.
            if (!tail.isOpen() || tail.position() > SEGMENT_BYTES) {
                changeSegment();
            }
            Report report = builder.setSequence(next).setAtMillis(clock.millis()).build();
            append(report, durable);
            next++;
            push(report);
            removeSegments();
            if (isUrgent()) {
                added.signalAll();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private void changeSegment() throws IOException {
        if (tail.isOpen()) {
            tail.force(false);
            tail.close();
        }
        tail = openSegment();
    }

    /** All of it or nothing: behind half a report no later one could be read. */
    private void append(Report report, boolean durable) throws IOException {
        long before = tail.position();
        boolean written = false;
        try {
            write(report);
            dirty = true;
            if (durable) {
                sync();
            }
            written = true;
        } finally {
            if (!written && tail.isOpen()) {
                var _ = tail.truncate(before).position(before);
            }
        }
    }

    private void write(Report report) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(report.getSerializedSize() + 4);
        report.writeDelimitedTo(line);
        ByteBuffer left = ByteBuffer.wrap(line.toByteArray());
        while (left.hasRemaining()) {
            tail.write(left);
        }
    }

    private void sync() throws IOException {
        if (dirty) {
            tail.force(false);
            dirty = false;
        }
    }

    /**
     * Makes what was added without waiting durable; called every few hundred milliseconds. Not
     * under the lock: whoever adds a record does not wait for the disk.
     */
    public void flush() {
        FileChannel file;
        lock.lock();
        try {
            if (closed || !dirty) {
                return;
            }
            dirty = false;
            file = tail;
        } finally {
            lock.unlock();
        }
        try {
            file.force(false);
        } catch (ClosedChannelException e) {
            // Whoever closed it has synced it.
        } catch (IOException e) {
            remainDirty();
            throw new UncheckedIOException(e);
        }
    }

    private void remainDirty() {
        lock.lock();
        try {
            dirty = true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The oldest reports: at once when a VM's end is among them or there are enough, else what is
     * there after the wait. So records of every command go in batches, not each on its own.
     */
    public List<Report> next(int max, Duration wait) throws InterruptedException {
        lock.lock();
        try {
            wanted = max;
            long nanos = wait.toNanos();
            while (!isUrgent() && !closed && nanos > 0) {
                nanos = added.awaitNanos(nanos);
            }
            List<Report> batch = new ArrayList<>();
            for (Report report : pending) {
                if (batch.size() >= max) {
                    break;
                }
                batch.add(report);
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all up to this sequence. */
    public void acknowledge(long sequence) {
        lock.lock();
        try {
            while (!pending.isEmpty() && pending.getFirst().getSequence() <= sequence) {
                removeFirst();
            }
            // Not synced: losing it only sends reports again.
            Path staged = directory.resolve(ACKNOWLEDGED + ".next");
            Files.write(staged, Long.toString(sequence).getBytes(StandardCharsets.US_ASCII));
            Files.move(
                    staged,
                    directory.resolve(ACKNOWLEDGED),
                    java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            removeSegments();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private boolean isUrgent() {
        return exitsPending > 0 || pending.size() >= wanted;
    }

    private void removeSegments() throws IOException {
        long needed = pending.isEmpty() ? next : pending.getFirst().getSequence();
        while (segments.size() > 1) {
            Map.Entry<Long, Path> second = segments.higherEntry(segments.firstKey());
            if (second.getKey() > needed) {
                return;
            }
            Files.deleteIfExists(segments.pollFirstEntry().getValue());
        }
    }

    public int size() {
        lock.lock();
        try {
            return pending.size();
        } finally {
            lock.unlock();
        }
    }

    /** Records that were dropped because the outbox was full. */
    public long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                if (tail.isOpen()) {
                    sync();
                }
                closed = true;
                tail.close();
                added.signalAll();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }
}
