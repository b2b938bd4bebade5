package dev.space.nativeabi;

import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Holes: where a file has data, and how to give room back. */
public final class SparseFile {

    /** A run of bytes that is not a hole. */
    public record Range(long offset, long length) {}

    private SparseFile() {}

    /** Deallocates a range; it reads as zeros afterwards and the size stays. */
    public static void punchHole(Path file, long offset, long length) throws IOException {
        if (offset < 0 || length <= 0) {
            throw new IllegalArgumentException("range " + offset + "+" + length);
        }
        try (NativeFile open = NativeFile.open(file, Libc.O_RDWR, 0)) {
            fallocate(open, offset, length);
        }
    }

    /** The data ranges in order; what lies between them is holes. */
    public static List<Range> dataRanges(Path file) throws IOException {
        List<Range> ranges = new ArrayList<>();
        try (NativeFile open = NativeFile.open(file, Libc.O_RDONLY, 0)) {
            long at = seek(open, 0, Libc.SEEK_DATA);
            while (at >= 0) {
                long end = seek(open, at, Libc.SEEK_HOLE);
                ranges.add(new Range(at, end - at));
                at = seek(open, end, Libc.SEEK_DATA);
            }
        }
        return List.copyOf(ranges);
    }

    /** JUSTIFICATION: the JDK cannot punch holes. SAFETY: numbers only; the descriptor is live. */
    private static void fallocate(NativeFile file, long offset, long length)
            throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            int result =
                    (int)
                            Libc.FALLOCATE.invokeExact(
                                    state,
                                    file.descriptor(),
                                    Libc.FALLOC_FL_PUNCH_HOLE | Libc.FALLOC_FL_KEEP_SIZE,
                                    offset,
                                    length);
            if (result != 0) {
                throw new NativeException("fallocate", file.path().toString(), Libc.errno(state));
            }
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    /**
     * JUSTIFICATION: FileChannel has no SEEK_DATA. SAFETY: numbers only; ENXIO means that nothing
     * follows and comes back as -1.
     */
    private static long seek(NativeFile file, long from, int whence) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            long at = (long) Libc.LSEEK.invokeExact(state, file.descriptor(), from, whence);
            if (at < 0 && Libc.errno(state) != NativeException.ENXIO) {
                throw new NativeException("lseek", file.path().toString(), Libc.errno(state));
            }
            return at;
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }
}
