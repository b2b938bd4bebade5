package dev.space.guest.channel;

import dev.space.guest.protocol.FileInfo;
import dev.space.guest.protocol.FilePath;
import dev.space.guest.protocol.ListDirectory;
import dev.space.guest.protocol.MakeDirectory;
import dev.space.guest.protocol.ReadFile;
import dev.space.guest.protocol.RemoveFile;
import dev.space.guest.protocol.Request;
import dev.space.guest.protocol.StatFile;
import dev.space.guest.protocol.WriteFile;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Files in the sandbox, touched as the user that the path names and never as root by itself. */
public final class GuestFiles {

    private final GuestChannel channel;
    private final Duration timeout;

    /** The time-out is for each answer and each piece of data, not for a whole file. */
    public GuestFiles(GuestChannel channel, Duration timeout) {
        this.channel = channel;
        this.timeout = timeout;
    }

    /** Does not follow a symbolic link at the end of the path. */
    public FileInfo stat(FilePath file) {
        var body = StatFile.newBuilder().setFile(file);
        return info(Request.newBuilder().setStatFile(body).build());
    }

    public FileInfo makeDirectory(FilePath file, boolean parents, int mode) {
        var body = MakeDirectory.newBuilder().setFile(file).setParents(parents).setMode(mode);
        return info(Request.newBuilder().setMakeDirectory(body).build());
    }

    public void remove(FilePath file, boolean recursive) {
        var body = RemoveFile.newBuilder().setFile(file).setRecursive(recursive);
        var reply = channel.call(Request.newBuilder().setRemoveFile(body).build(), timeout);
        var _ = GuestClient.expect(reply.hasDone(), reply);
    }

    private FileInfo info(Request request) {
        var reply = channel.call(request, timeout);
        return GuestClient.expect(reply.hasFile(), reply).getFile();
    }

    /** Hands over the entries of a directory piece by piece; a directory may be huge. */
    public void list(FilePath directory, Consumer<List<FileInfo>> entries) {
        var body = ListDirectory.newBuilder().setFile(directory);
        var request = Request.newBuilder().setListDirectory(body).build();
        try (var stream = channel.open(request)) {
            for (var reply = stream.replyOrEnd(timeout);
                    reply != null;
                    reply = stream.replyOrEnd(timeout)) {
                entries.accept(
                        GuestClient.expect(reply.hasFiles(), reply).getFiles().getFilesList());
            }
        }
    }

    /** Opens a file for reading; the caller closes it. A negative length reads to the end. */
    public Reader read(FilePath file, long offset, long length) {
        var body = ReadFile.newBuilder().setFile(file).setOffset(offset).setLength(length);
        var stream = channel.open(Request.newBuilder().setReadFile(body).build());
        try {
            var reply = stream.reply(timeout);
            return new Reader(
                    stream, timeout, GuestClient.expect(reply.hasFile(), reply).getFile());
        } catch (RuntimeException e) {
            stream.close();
            throw e;
        }
    }

    /**
     * Begins a file that appears under its name when it is committed; closing it before leaves
     * nothing. Mode 0 means 0644, or the mode of the file that is replaced.
     */
    public Writer write(FilePath file, int mode, boolean makeParents) {
        var body = WriteFile.newBuilder().setFile(file).setMode(mode).setMakeParents(makeParents);
        return new Writer(channel.open(Request.newBuilder().setWriteFile(body).build()), timeout);
    }

    /** A file being read. */
    public static final class Reader implements AutoCloseable {
        private final GuestStream stream;
        private final Duration timeout;
        private final FileInfo info;

        private Reader(GuestStream stream, Duration timeout, FileInfo info) {
            this.stream = stream;
            this.timeout = timeout;
            this.info = info;
        }

        public FileInfo info() {
            return info;
        }

        /** The next bytes, or null at the end. */
        public byte @Nullable [] read() {
            return stream.read(timeout);
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    /** A file being written. */
    public static final class Writer implements AutoCloseable {
        private final GuestStream stream;
        private final Duration timeout;

        private Writer(GuestStream stream, Duration timeout) {
            this.stream = stream;
            this.timeout = timeout;
        }

        public void write(ByteBuffer data) {
            stream.write(data, timeout);
        }

        /** Gives the file its name; only after this it exists. */
        public FileInfo commit() {
            stream.end(timeout);
            var reply = stream.reply(timeout);
            return GuestClient.expect(reply.hasFile(), reply).getFile();
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
