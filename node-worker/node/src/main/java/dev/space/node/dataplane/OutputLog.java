package dev.space.node.dataplane;

import com.google.protobuf.ByteString;
import dev.space.model.Limits;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One output stream of a process, kept in bounded files and addressed by offset. The oldest part is
 * dropped when the bound is reached, but never what an attached reader has still to read: then the
 * writer waits, which holds the process back. A reader that goes away holds back nothing.
 *
 * <p>Segments are files named {@code <stream>.<offset of their first byte>}, so that offsets
 * survive a restart without an index.
 */
public final class OutputLog implements AutoCloseable {

    /** Size of one file. */
    static final long SEGMENT_BYTES = 2 << 20;

    private final Path directory;
    private final String stream;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final TreeMap<Long, Path> segments = new TreeMap<>();
    private final Set<Reader> readers = new HashSet<>();
    private @Nullable FileChannel tail;
    private long tailStart;
    private long end;
    private boolean ended;
    private boolean closed;

    /** Begins at offset 0; the directory need not exist. */
    OutputLog(Path directory, String stream) {
        this.directory = directory;
        this.stream = stream;
    }

    /** Opens what an earlier process left. */
    static OutputLog reopen(Path directory, String stream) {
        OutputLog log = new OutputLog(directory, stream);
        log.findSegments();
        return log;
    }

    private void findSegments() {
        String prefix = stream + ".";
        for (Path file : Volume.children(directory)) {
            String name = file.getFileName().toString();
            if (name.startsWith(prefix)) {
                segments.put(Long.parseLong(name.substring(prefix.length())), file);
            }
        }
        try {
            if (!segments.isEmpty()) {
                end = segments.lastKey() + Files.size(segments.lastEntry().getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A piece of output; {@code data} is empty when the stream has ended or nothing came in time.
     */
    public record Piece(long offset, ByteString data, boolean end) {}

    /** Offset behind the last byte. */
    public long end() {
        lock.lock();
        try {
            return end;
        } finally {
            lock.unlock();
        }
    }

    /** Appends what is new of a piece; what is there already is skipped. */
    void append(long offset, ByteString data) throws InterruptedException {
        lock.lock();
        try {
            long skip = end - offset;
            if (skip >= data.size() || closed) {
                return;
            }
            ByteString fresh = skip > 0 ? data.substring((int) skip) : data;
            long at = Math.max(offset, end);
            makeRoom(at, fresh.size());
            if (!closed) {
                write(at, fresh);
                changed.signalAll();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private void write(long at, ByteString data) throws IOException {
        FileChannel out = tail;
        if (out == null || at != end || at - tailStart >= SEGMENT_BYTES) {
            out = openSegment(at);
        }
        for (ByteBuffer part : data.asReadOnlyByteBufferList()) {
            while (part.hasRemaining()) {
                out.write(part);
            }
        }
        end = at + data.size();
    }

    private FileChannel openSegment(long at) throws IOException {
        closeTail();
        Map.Entry<Long, Path> last = segments.lastEntry();
        boolean goesOn = last != null && at == end && at - last.getKey() < SEGMENT_BYTES;
        long start = goesOn && last != null ? last.getKey() : at;
        Path file = directory.resolve(stream + "." + start);
        if (!goesOn) {
            Files.createDirectories(directory);
        }
        FileChannel out =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        out.position(at - start);
        segments.put(start, file);
        tail = out;
        tailStart = start;
        return out;
    }

    /** Drops the oldest segments, waiting for attached readers that have not read them. */
    private void makeRoom(long at, int size) throws InterruptedException, IOException {
        while (!closed && segments.size() > 1) {
            long nextStart = segments.higherKey(segments.firstKey());
            if (at + size - segments.firstKey() <= Limits.PROCESS_OUTPUT_BYTES_MAX) {
                return;
            }
            if (readers.stream().anyMatch(r -> r.position < nextStart)) {
                changed.await();
                continue;
            }
            Files.deleteIfExists(segments.pollFirstEntry().getValue());
        }
    }

    /** Nothing more will be appended. */
    void finish() {
        lock.lock();
        try {
            ended = true;
            closeTail();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Attaches a reader; close it, or the process is held back for ever. */
    public Reader reader(long offset) {
        lock.lock();
        try {
            Reader reader = new Reader(offset);
            readers.add(reader);
            return reader;
        } finally {
            lock.unlock();
        }
    }

    /** An attached reader's place in the stream. */
    public final class Reader implements AutoCloseable {

        private long position;

        private Reader(long offset) {
            this.position = offset;
        }

        /** The next bytes, waiting for some at most this long. */
        public Piece next(int max, Duration wait) throws InterruptedException {
            lock.lock();
            try {
                long nanos = wait.toNanos();
                while (position >= end && !ended && !closed && nanos > 0) {
                    nanos = changed.awaitNanos(nanos);
                }
                Piece piece = read(max);
                position = piece.offset() + piece.data().size();
                changed.signalAll();
                return piece;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                lock.unlock();
            }
        }

        private Piece read(int max) throws IOException {
            if (position >= end) {
                return new Piece(position, ByteString.EMPTY, ended || closed);
            }
            Map.Entry<Long, Path> from = segments.floorEntry(position);
            if (from == null || position >= from.getKey() + Files.size(from.getValue())) {
                from = segments.higherEntry(position);
            }
            if (from == null) {
                return new Piece(end, ByteString.EMPTY, ended);
            }
            long at = Math.max(position, from.getKey());
            ByteBuffer buffer = ByteBuffer.allocate(max);
            try (FileChannel in = FileChannel.open(from.getValue(), StandardOpenOption.READ)) {
                in.read(buffer, at - from.getKey());
            }
            ByteString data = ByteString.copyFrom(buffer.flip());
            return new Piece(at, data, ended && at + data.size() >= end);
        }

        @Override
        public void close() {
            lock.lock();
            try {
                readers.remove(this);
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    boolean isEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    private void closeTail() {
        FileChannel open = tail;
        tail = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            closeTail();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
