package dev.space.durable;

import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads a range of a pack and opens the chunks in it; says in words what is wrong. */
final class PackReader {

    /** Takes a verified chunk. */
    @FunctionalInterface
    interface Sink {
        void accept(ChunkReads.Target target, byte[] content) throws IOException;
    }

    private PackReader() {}

    /** Fills the buffer's start with the range; null when all is well. */
    static @Nullable String read(
            ObjectStore store, String key, ChunkReads.Range range, byte[] buffer) {
        int there = store.read(key, range.start(), range.length(), buffer);
        if (there == range.length()) {
            return null;
        }
        String first = range.targets().getFirst().toString();
        return there < 0
                ? "pack " + key + " is missing, it holds " + first
                : "pack " + key + " is too short, it should hold " + first;
    }

    /** Hands each chunk of the range to the sink, or its fault to the other one. */
    static void open(
            ChunkSealer sealer,
            String key,
            ChunkReads.Range range,
            byte[] buffer,
            Sink sink,
            Consumer<String> faults)
            throws IOException {
        byte[] content = new byte[Format.CHUNK_BYTES];
        ChunkRef opened = null;
        boolean good = false;
        for (ChunkReads.Target target : range.targets()) {
            ChunkRef chunk = target.chunk();
            if (!chunk.equals(opened)) {
                opened = chunk;
                String fault =
                        sealer.open(
                                buffer,
                                chunk.offset() - range.start(),
                                chunk.sealed(),
                                chunk.id(),
                                chunk.length(),
                                content);
                good = fault == null;
                if (fault != null) {
                    faults.accept(target + " in pack " + key + " " + fault);
                }
            }
            if (good) {
                sink.accept(target, content);
            }
        }
    }
}
