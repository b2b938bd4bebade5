package dev.space.nativeabi;

/** One run of a file's bytes on the device, as FIEMAP tells it; all in bytes. */
public record Extent(long logical, long physical, long length, int flags) {

    /** The kernel cannot say where the bytes are yet. */
    public static final int UNKNOWN = 0x2;

    /** Not written to the device yet. */
    public static final int DELALLOC = 0x4;

    /** Compressed: only the start of the extent is told, for every slice of it. */
    public static final int ENCODED = 0x8;

    /** Allocated, reads as zeros. */
    public static final int UNWRITTEN = 0x800;

    /** Shared with another file; no sign of a change. */
    public static final int SHARED = 0x2000;

    /** The file's last extent. */
    public static final int LAST = 0x1;

    public boolean has(int flag) {
        return (flags & flag) != 0;
    }
}
