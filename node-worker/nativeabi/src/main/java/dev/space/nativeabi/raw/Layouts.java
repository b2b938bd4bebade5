package dev.space.nativeabi.raw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;

/** The C structures that cross the boundary (Linux, 64 bit), field by field. */
public final class Layouts {

    /** {@code struct fiemap_extent} of linux/fiemap.h. */
    public static final StructLayout FIEMAP_EXTENT =
            MemoryLayout.structLayout(
                    JAVA_LONG.withName("fe_logical"),
                    JAVA_LONG.withName("fe_physical"),
                    JAVA_LONG.withName("fe_length"),
                    MemoryLayout.sequenceLayout(2, JAVA_LONG).withName("fe_reserved64"),
                    JAVA_INT.withName("fe_flags"),
                    MemoryLayout.sequenceLayout(3, JAVA_INT).withName("fe_reserved"));

    /** {@code struct fiemap} without its trailing array of extents. */
    public static final StructLayout FIEMAP =
            MemoryLayout.structLayout(
                    JAVA_LONG.withName("fm_start"),
                    JAVA_LONG.withName("fm_length"),
                    JAVA_INT.withName("fm_flags"),
                    JAVA_INT.withName("fm_mapped_extents"),
                    JAVA_INT.withName("fm_extent_count"),
                    JAVA_INT.withName("fm_reserved"));

    /** {@code struct pollfd} of poll.h. */
    public static final StructLayout POLLFD =
            MemoryLayout.structLayout(
                    JAVA_INT.withName("fd"),
                    JAVA_SHORT.withName("events"),
                    JAVA_SHORT.withName("revents"));

    /** {@code struct statfs} of sys/vfs.h: only the first field is read. */
    public static final StructLayout STATFS =
            MemoryLayout.structLayout(
                    JAVA_LONG.withName("f_type"),
                    MemoryLayout.sequenceLayout(14, JAVA_LONG).withName("rest"));

    private Layouts() {}

    /** Offset of a field in bytes. */
    public static long offset(StructLayout layout, String field) {
        return layout.byteOffset(PathElement.groupElement(field));
    }
}
