package dev.space.nativeabi;

import java.io.IOException;

/** A system call that failed: which, on what, and with which errno. */
public final class NativeException extends IOException {

    private static final long serialVersionUID = 1L;

    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EAGAIN = 11;
    public static final int EACCES = 13;
    public static final int EXDEV = 18;
    public static final int EINVAL = 22;
    public static final int ENOSPC = 28;
    public static final int ENXIO = 6;
    public static final int EOPNOTSUPP = 95;
    public static final int EADDRINUSE = 98;

    private final int errno;

    NativeException(String call, String subject, int errno) {
        super(call + " of " + subject + ": " + explain(call, errno));
        this.errno = errno;
    }

    /** The value of errno; compare with the constants of this class. */
    public int errno() {
        return errno;
    }

    private static String explain(String call, int errno) {
        return switch (errno) {
            case ENOENT -> "no such file (ENOENT)";
            case ESRCH -> "no such process (ESRCH)";
            case EACCES -> "permission denied (EACCES)";
            case EADDRINUSE -> "the address is in use (EADDRINUSE)";
            case ENOSPC -> "the file system is full (ENOSPC)";
            case EXDEV ->
                    call.startsWith("FICLONE")
                            ? "both files must lie on the same file system (EXDEV)"
                            : "the files lie on different file systems (EXDEV)";
            case EOPNOTSUPP -> "the file system cannot do it; SPACE needs btrfs (EOPNOTSUPP)";
            case EINVAL ->
                    call.startsWith("FICLONE")
                            ? "the files do not fit together, as when only one of them is"
                                    + " no-copy-on-write (EINVAL)"
                            : "invalid argument (EINVAL)";
            default -> "errno " + errno;
        };
    }
}
