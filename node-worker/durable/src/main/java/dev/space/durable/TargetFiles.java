package dev.space.durable;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** The files that one range of a pack is written to; neighbours mostly belong to one file. */
final class TargetFiles implements AutoCloseable {

    private final Path root;
    private @Nullable FileChannel open;
    private String path = "";

    TargetFiles(Path root) {
        this.root = root;
    }

    void write(ChunkReads.Target target, byte[] content) throws IOException {
        long at = (long) target.index() * Format.CHUNK_BYTES;
        Io.write(channel(target.file().path()), at, content, target.chunk().length());
    }

    private FileChannel channel(String wanted) throws IOException {
        FileChannel channel = open;
        if (channel == null || !path.equals(wanted)) {
            close();
            channel = FileChannel.open(root.resolve(wanted), StandardOpenOption.WRITE);
            open = channel;
            path = wanted;
        }
        return channel;
    }

    @Override
    public void close() throws IOException {
        FileChannel channel = open;
        open = null;
        if (channel != null) {
            channel.close();
        }
    }
}
