package dev.space.nativeabi;

import dev.space.nativeabi.raw.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A file descriptor of our own, for calls that need its number. Owned by the creating thread's
 * try-with-resources; never handed out of this package.
 */
final class NativeFile implements AutoCloseable {

    private final int descriptor;
    private final Path path;

    private NativeFile(int descriptor, Path path) {
        this.descriptor = descriptor;
        this.path = path;
    }

    /**
     * JUSTIFICATION: FileChannel does not tell its descriptor, and ioctl needs one. SAFETY: the
     * path is copied NUL-terminated into a confined arena that outlives the call; the descriptor is
     * closed once, by {@link #close}; O_CLOEXEC keeps it from children.
     */
    static NativeFile open(Path path, int flags, int mode) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            MemorySegment name = arena.allocateFrom(path.toString());
            while (true) {
                int fd = (int) Libc.OPEN.invokeExact(state, name, flags | Libc.O_CLOEXEC, mode);
                if (fd >= 0) {
                    return new NativeFile(fd, path);
                }
                int errno = Libc.errno(state);
                if (errno != NativeException.EINTR) {
                    throw new NativeException("open", path.toString(), errno);
                }
            }
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    int descriptor() {
        return descriptor;
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        Calls.close(descriptor);
    }
}
