package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Rewrites a part of a file in few pieces (BTRFS_IOC_DEFRAG_RANGE): clones of it become cheap
 * again. Content, inode and mappings stay, so that it may be done under whoever writes the file.
 * What is rewritten is shared with no clone any more.
 */
public final class Defragment {

    private Defragment() {}

    /**
     * Rewrites a range; it is on the device after the next sync of the file.
     *
     * @param smallerThan only pieces that are shorter than this many bytes
     */
    public static void range(Path file, long offset, long length, int smallerThan)
            throws IOException {
        try (NativeFile open = NativeFile.open(file, Libc.O_RDWR | Libc.O_NOFOLLOW, 0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment what = arena.allocate(Layouts.DEFRAG_RANGE);
            what.set(JAVA_LONG, Layouts.offset(Layouts.DEFRAG_RANGE, "start"), offset);
            what.set(JAVA_LONG, Layouts.offset(Layouts.DEFRAG_RANGE, "len"), length);
            what.set(JAVA_INT, Layouts.offset(Layouts.DEFRAG_RANGE, "extent_thresh"), smallerThan);
            defragment(open, arena, what);
        }
    }

    /**
     * JUSTIFICATION: no JDK call does it. SAFETY: the structure has the size that the request's
     * number says, is zero where nothing was set, and lives until the arena ends.
     */
    private static void defragment(NativeFile file, Arena arena, MemorySegment what)
            throws NativeException {
        try {
            MemorySegment state = Libc.state(arena);
            int result =
                    (int)
                            Libc.IOCTL_POINTER.invokeExact(
                                    state, file.descriptor(), Libc.BTRFS_IOC_DEFRAG_RANGE, what);
            if (result != 0) {
                throw new NativeException(
                        "BTRFS_IOC_DEFRAG_RANGE", file.path().toString(), Libc.errno(state));
            }
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }
}
