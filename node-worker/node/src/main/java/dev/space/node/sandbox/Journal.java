package dev.space.node.sandbox;

import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The operation journal of a session, beside its {@code live/}. Each line is a checksum and the
 * whole record; the last complete line counts, so one synced append is one atomic change. A torn
 * tail, which only an append that was never acknowledged can leave, is dropped.
 */
final class Journal implements AutoCloseable {

    static final String FILE = "journal";

    /** Beyond this size the file is replaced by its last line. */
    private static final long BYTES_MAX = 128 << 10;

    private final Path file;
    private FileChannel channel;
    private SessionRecord last;

    private Journal(Path file, FileChannel channel, SessionRecord last) {
        this.file = file;
        this.channel = channel;
        this.last = last;
    }

    /** Reads the journal, or returns null when the session has no valid one. */
    static @Nullable Journal open(Path session) throws IOException {
        Path file = session.resolve(FILE);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        byte[] content = Files.readAllBytes(file);
        SessionRecord found = null;
        int valid = 0;
        int from = 0;
        for (int i = 0; i < content.length; i++) {
            if (content[i] == '\n') {
                SessionRecord next = parse(content, from, i);
                if (next == null) {
                    break;
                }
                found = next;
                valid = i + 1;
                from = valid;
            }
        }
        if (found == null) {
            return null;
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        channel.truncate(valid);
        channel.position(valid);
        return new Journal(file, channel, found);
    }

    /** Makes the journal of a new session, durably. */
    static Journal create(Path session, SessionRecord first) throws IOException {
        Path file = session.resolve(FILE);
        Files.deleteIfExists(file);
        FileChannel channel =
                FileChannel.open(
                        file,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
        Journal journal = new Journal(file, channel, first);
        journal.append(first);
        DurableFiles.syncDirectory(session);
        return journal;
    }

    SessionRecord last() {
        return last;
    }

    /** Returns when the record is on disk. */
    void append(SessionRecord record) throws IOException {
        byte[] line = format(record);
        if (channel.position() + line.length > BYTES_MAX) {
            compact(line);
        } else {
            write(channel, line);
            channel.force(false);
        }
        last = record;
    }

    private void compact(byte[] line) throws IOException {
        DurableFiles.replace(file, line);
        channel.close();
        channel = FileChannel.open(file, StandardOpenOption.WRITE);
        channel.position(line.length);
    }

    private static void write(FileChannel channel, byte[] line) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(line);
        while (left.hasRemaining()) {
            channel.write(left);
        }
    }

    private static byte[] format(SessionRecord record) throws IOException {
        byte[] json = Json.MAPPER.writeValueAsBytes(record);
        String head = "%08x ".formatted(crc(json, 0, json.length));
        byte[] line = new byte[head.length() + json.length + 1];
        System.arraycopy(head.getBytes(StandardCharsets.US_ASCII), 0, line, 0, head.length());
        System.arraycopy(json, 0, line, head.length(), json.length);
        line[line.length - 1] = '\n';
        return line;
    }

    private static @Nullable SessionRecord parse(byte[] content, int from, int to) {
        int head = 9;
        if (to - from <= head) {
            return null;
        }
        String sum = new String(content, from, head - 1, StandardCharsets.US_ASCII);
        if (!sum.equals("%08x".formatted(crc(content, from + head, to - from - head)))) {
            return null;
        }
        try {
            return Json.MAPPER.readValue(
                    content, from + head, to - from - head, SessionRecord.class);
        } catch (IOException e) {
            return null;
        }
    }

    private static int crc(byte[] content, int from, int length) {
        CRC32 crc = new CRC32();
        crc.update(content, from, length);
        return (int) crc.getValue();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
