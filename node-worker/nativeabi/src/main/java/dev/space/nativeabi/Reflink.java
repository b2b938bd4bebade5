package dev.space.nativeabi;

import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Clones of files that share their extents (FICLONE). Never copies: where the file system cannot
 * share, it fails and says why. Cost follows the number of extents, not the size.
 */
public final class Reflink {

    private Reflink() {}

    /** Makes {@code target}, which must not exist, a clone of {@code source}, with mode 0600. */
    public static void clone(Path source, Path target) throws IOException {
        boolean cloned = false;
        try (NativeFile from = NativeFile.open(source, Libc.O_RDONLY, 0);
                NativeFile to =
                        NativeFile.open(target, Libc.O_WRONLY | Libc.O_CREAT | Libc.O_EXCL, 0600)) {
            try {
                ficlone(from, to);
                cloned = true;
            } finally {
                if (!cloned) {
                    Files.deleteIfExists(target);
                }
            }
        }
    }

    /**
     * Replaces the content of the existing file {@code target}, in its own inode, so that whoever
     * has it open or mapped sees the clone. A longer target keeps its tail.
     */
    public static void cloneInto(Path source, Path target) throws IOException {
        try (NativeFile from = NativeFile.open(source, Libc.O_RDONLY, 0);
                NativeFile to = NativeFile.open(target, Libc.O_WRONLY | Libc.O_NOFOLLOW, 0)) {
            ficlone(from, to);
        }
    }

    /**
     * JUSTIFICATION: Files.copy reflinks where it can but copies silently where it cannot. SAFETY:
     * two live descriptors by value; errno is captured by the call itself.
     */
    private static void ficlone(NativeFile from, NativeFile to) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            int result =
                    (int)
                            Libc.IOCTL_INT.invokeExact(
                                    state, to.descriptor(), Libc.FICLONE, from.descriptor());
            if (result != 0) {
                throw new NativeException(
                        "FICLONE", from.path() + " to " + to.path(), Libc.errno(state));
            }
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }
}
