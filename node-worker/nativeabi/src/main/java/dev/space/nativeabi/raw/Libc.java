package dev.space.nativeabi.raw;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The C library's functions as downcalls. Every handle captures errno into the segment that is its
 * first argument; {@link #errno} reads it. Nothing here checks a result: that is the typed layer's.
 */
@SuppressWarnings("restricted")
public final class Libc {

    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0x40;
    public static final int O_EXCL = 0x80;
    public static final int O_NOFOLLOW = 0x20000;
    public static final int O_CLOEXEC = 0x80000;

    /** {@code _IOW(0x94, 9, int)} of linux/fs.h. */
    public static final long FICLONE = 0x40049409L;

    /** {@code _IOWR('f', 11, struct fiemap)} of linux/fs.h. */
    public static final long FS_IOC_FIEMAP = 0xC020660BL;

    /** {@code _IOW(0x94, 16, struct btrfs_ioctl_defrag_range_args)} of linux/btrfs.h. */
    public static final long BTRFS_IOC_DEFRAG_RANGE = 0x40309410L;

    public static final int FIEMAP_FLAG_SYNC = 1;
    public static final int FALLOC_FL_KEEP_SIZE = 1;
    public static final int FALLOC_FL_PUNCH_HOLE = 2;
    public static final int SEEK_DATA = 3;
    public static final int SEEK_HOLE = 4;
    public static final short POLLIN = 1;
    public static final int AF_UNIX = 1;
    public static final int AF_INET = 2;
    public static final int SOCK_STREAM = 1;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x80000;
    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    public static final int SO_PEERCRED = 17;
    public static final int SCM_RIGHTS = 1;
    public static final int MSG_CTRUNC = 8;
    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_NOSIGNAL = 0x4000;
    public static final int MSG_CMSG_CLOEXEC = 0x40000000;
    public static final int CLONE_NEWNET = 0x40000000;
    public static final short POLLOUT = 4;
    public static final long SYS_PIDFD_SEND_SIGNAL = 424;
    public static final long SYS_PIDFD_OPEN = 434;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup LOOKUP = LINKER.defaultLookup();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_FIELD =
            STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    public static final MethodHandle OPEN = variadic("open", 2, ADDRESS, JAVA_INT, JAVA_INT);
    public static final MethodHandle CLOSE = plain("close", JAVA_INT, JAVA_INT);
    public static final MethodHandle IOCTL_INT =
            variadic("ioctl", 2, JAVA_INT, JAVA_LONG, JAVA_INT);
    public static final MethodHandle IOCTL_POINTER =
            variadic("ioctl", 2, JAVA_INT, JAVA_LONG, ADDRESS);
    public static final MethodHandle FALLOCATE =
            plain("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    public static final MethodHandle LSEEK =
            plain("lseek", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    public static final MethodHandle STATFS = plain("statfs", JAVA_INT, ADDRESS, ADDRESS);
    public static final MethodHandle POLL = plain("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    public static final MethodHandle SETNS = plain("setns", JAVA_INT, JAVA_INT, JAVA_INT);
    public static final MethodHandle SOCKET =
            plain("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    public static final MethodHandle BIND = plain("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    public static final MethodHandle CONNECT =
            plain("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    public static final MethodHandle LISTEN = plain("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    public static final MethodHandle ACCEPT4 =
            plain("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    public static final MethodHandle SETSOCKOPT =
            plain("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    public static final MethodHandle GETSOCKOPT =
            plain("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    public static final MethodHandle SENDMSG =
            plain("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    public static final MethodHandle RECVMSG =
            plain("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

    /** {@code syscall(number, pid, flags)} as pidfd_open takes it. */
    public static final MethodHandle PIDFD_OPEN =
            LINKER.downcallHandle(
                    symbol("syscall"),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT),
                    ERRNO,
                    Linker.Option.firstVariadicArg(1));

    /** {@code syscall(number, pidfd, signal, info, flags)} as pidfd_send_signal takes it. */
    public static final MethodHandle PIDFD_SEND_SIGNAL =
            LINKER.downcallHandle(
                    symbol("syscall"),
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT),
                    ERRNO,
                    Linker.Option.firstVariadicArg(1));

    private Libc() {}

    /** A place for errno, to be handed to a call in the same arena. */
    public static MemorySegment state(Arena arena) {
        return arena.allocate(STATE);
    }

    /** What the last call that got this segment left in errno. */
    public static int errno(MemorySegment state) {
        return (int) ERRNO_FIELD.get(state, 0L);
    }

    private static MethodHandle plain(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments), ERRNO);
    }

    private static MethodHandle variadic(String name, int fixed, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                symbol(name),
                FunctionDescriptor.of(JAVA_INT, arguments),
                ERRNO,
                Linker.Option.firstVariadicArg(fixed));
    }

    private static MemorySegment symbol(String name) {
        return LOOKUP.find(name)
                .orElseThrow(() -> new IllegalStateException("the C library has no " + name));
    }
}
