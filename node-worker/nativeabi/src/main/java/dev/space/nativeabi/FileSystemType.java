package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** What kind of file system a path lies on, by the magic number of statfs. */
public record FileSystemType(long magic) {

    public static final FileSystemType BTRFS = new FileSystemType(0x9123683EL);
    public static final FileSystemType EXT = new FileSystemType(0xEF53L);
    public static final FileSystemType TMPFS = new FileSystemType(0x01021994L);
    public static final FileSystemType CGROUP2 = new FileSystemType(0x63677270L);

    /**
     * JUSTIFICATION: FileStore names types by mount table text, which may be missing in a
     * namespace. SAFETY: the kernel writes 120 bytes, the size of the layout, into the arena.
     */
    public static FileSystemType of(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Libc.state(arena);
            MemorySegment buffer = arena.allocate(Layouts.STATFS);
            MemorySegment name = arena.allocateFrom(path.toString());
            int result = (int) Libc.STATFS.invokeExact(state, name, buffer);
            if (result != 0) {
                throw new NativeException("statfs", path.toString(), Libc.errno(state));
            }
            return new FileSystemType(buffer.get(JAVA_LONG, 0) & 0xFFFFFFFFL);
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
    }

    public static boolean isBtrfs(Path path) throws IOException {
        return of(path).equals(BTRFS);
    }
}
