package dev.space.nativeabi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Which extents a file has (FIEMAP), for change maps and for judging what a clone will cost. */
public final class ExtentMap {

    /** More extents than this are refused: such a file is to be compacted, not mapped. */
    public static final int EXTENTS_MAX = 1 << 20;

    private static final int BATCH = 1024;
    private static final long HEADER_BYTES = Layouts.FIEMAP.byteSize();
    private static final long EXTENT_BYTES = Layouts.FIEMAP_EXTENT.byteSize();

    private ExtentMap() {}

    /** All extents in order of their place in the file; dirty pages are written first. */
    public static List<Extent> of(Path file) throws IOException {
        return of(file, Libc.FIEMAP_FLAG_SYNC);
    }

    /** As above without writing anything: what is still in memory is told as DELALLOC. */
    public static List<Extent> asItIs(Path file) throws IOException {
        return of(file, 0);
    }

    private static List<Extent> of(Path file, int flags) throws IOException {
        List<Extent> extents = new ArrayList<>();
        try (NativeFile open = NativeFile.open(file, Libc.O_RDONLY, 0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment map = arena.allocate(HEADER_BYTES + BATCH * EXTENT_BYTES, 8);
            long start = 0;
            while (true) {
                int mapped = read(open, arena, map, start, flags);
                for (int i = 0; i < mapped; i++) {
                    extents.add(extent(map, i));
                }
                if (mapped == 0 || extents.getLast().has(Extent.LAST)) {
                    return List.copyOf(extents);
                }
                if (extents.size() > EXTENTS_MAX) {
                    throw new IOException(file + " has more than " + EXTENTS_MAX + " extents");
                }
                start = extents.getLast().logical() + extents.getLast().length();
            }
        }
    }

    /**
     * JUSTIFICATION: no JDK call tells extents. SAFETY: the segment has room for BATCH extents and
     * fm_extent_count says so to the kernel; it lives until the caller's arena ends.
     */
    private static int read(NativeFile file, Arena arena, MemorySegment map, long start, int flags)
            throws NativeException {
        map.set(JAVA_LONG, Layouts.offset(Layouts.FIEMAP, "fm_start"), start);
        map.set(JAVA_LONG, Layouts.offset(Layouts.FIEMAP, "fm_length"), Long.MAX_VALUE - start);
        map.set(JAVA_INT, Layouts.offset(Layouts.FIEMAP, "fm_flags"), flags);
        map.set(JAVA_INT, Layouts.offset(Layouts.FIEMAP, "fm_mapped_extents"), 0);
        map.set(JAVA_INT, Layouts.offset(Layouts.FIEMAP, "fm_extent_count"), BATCH);
        try {
            MemorySegment state = Libc.state(arena);
            int result =
                    (int)
                            Libc.IOCTL_POINTER.invokeExact(
                                    state, file.descriptor(), Libc.FS_IOC_FIEMAP, map);
            if (result != 0) {
                throw new NativeException("FIEMAP", file.path().toString(), Libc.errno(state));
            }
        } catch (Throwable e) {
            throw Calls.rethrow(e);
        }
        return map.get(JAVA_INT, Layouts.offset(Layouts.FIEMAP, "fm_mapped_extents"));
    }

    private static Extent extent(MemorySegment map, int index) {
        long at = HEADER_BYTES + index * EXTENT_BYTES;
        return new Extent(
                map.get(JAVA_LONG, at + Layouts.offset(Layouts.FIEMAP_EXTENT, "fe_logical")),
                map.get(JAVA_LONG, at + Layouts.offset(Layouts.FIEMAP_EXTENT, "fe_physical")),
                map.get(JAVA_LONG, at + Layouts.offset(Layouts.FIEMAP_EXTENT, "fe_length")),
                map.get(JAVA_INT, at + Layouts.offset(Layouts.FIEMAP_EXTENT, "fe_flags")));
    }
}
