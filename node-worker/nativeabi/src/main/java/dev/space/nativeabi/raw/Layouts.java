package dev.space.nativeabi.raw;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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

    /** {@code struct btrfs_ioctl_defrag_range_args} of linux/btrfs.h. */
    public static final StructLayout DEFRAG_RANGE =
            MemoryLayout.structLayout(
                    JAVA_LONG.withName("start"),
                    JAVA_LONG.withName("len"),
                    JAVA_LONG.withName("flags"),
                    JAVA_INT.withName("extent_thresh"),
                    JAVA_INT.withName("compress_type"),
                    MemoryLayout.sequenceLayout(4, JAVA_INT).withName("unused"));

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

    /** {@code struct sockaddr_un} of sys/un.h. */
    public static final StructLayout SOCKADDR_UN =
            MemoryLayout.structLayout(
                    JAVA_SHORT.withName("sun_family"),
                    MemoryLayout.sequenceLayout(108, JAVA_BYTE).withName("sun_path"));

    /** {@code struct sockaddr_in} of netinet/in.h; port and address are in network order. */
    public static final StructLayout SOCKADDR_IN =
            MemoryLayout.structLayout(
                    JAVA_SHORT.withName("sin_family"),
                    JAVA_SHORT.withName("sin_port"),
                    JAVA_INT.withName("sin_addr"),
                    MemoryLayout.sequenceLayout(8, JAVA_BYTE).withName("sin_zero"));

    /** {@code struct ucred} of sys/socket.h. */
    public static final StructLayout UCRED =
            MemoryLayout.structLayout(
                    JAVA_INT.withName("pid"), JAVA_INT.withName("uid"), JAVA_INT.withName("gid"));

    /** {@code struct iovec} of sys/uio.h. */
    public static final StructLayout IOVEC =
            MemoryLayout.structLayout(ADDRESS.withName("iov_base"), JAVA_LONG.withName("iov_len"));

    /** {@code struct msghdr} of sys/socket.h. */
    public static final StructLayout MSGHDR =
            MemoryLayout.structLayout(
                    ADDRESS.withName("msg_name"),
                    JAVA_INT.withName("msg_namelen"),
                    MemoryLayout.paddingLayout(4),
                    ADDRESS.withName("msg_iov"),
                    JAVA_LONG.withName("msg_iovlen"),
                    ADDRESS.withName("msg_control"),
                    JAVA_LONG.withName("msg_controllen"),
                    JAVA_INT.withName("msg_flags"),
                    MemoryLayout.paddingLayout(4));

    /** {@code struct cmsghdr} of sys/socket.h, without its data. */
    public static final StructLayout CMSGHDR =
            MemoryLayout.structLayout(
                    JAVA_LONG.withName("cmsg_len"),
                    JAVA_INT.withName("cmsg_level"),
                    JAVA_INT.withName("cmsg_type"));

    private Layouts() {}

    /** Offset of a field in bytes. */
    public static long offset(StructLayout layout, String field) {
        return layout.byteOffset(PathElement.groupElement(field));
    }
}
