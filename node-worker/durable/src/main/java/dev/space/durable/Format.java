package dev.space.durable;

/** Sizes of the storage format, in one place (docs/storage-format.md). */
final class Format {

    /** The version that manifests say; another one is refused by name. */
    static final int VERSION = 1;

    /** Files are cut on this grid: small, because memory changes in small places. */
    static final int CHUNK_BYTES = 64 << 10;

    /** A pack is closed when it has reached this; small objects would halve the throughput. */
    static final int PACK_BYTES = 8 << 20;

    /** No pack is longer: it is closed by the chunk that reaches the mark. */
    static final int PACK_BYTES_MAX = PACK_BYTES + 2 * CHUNK_BYTES;

    /** One manifest object; about a TiB of stored chunks. */
    static final int MANIFEST_BYTES_MAX = 64 << 20;

    /** A manifest's body before it was compressed. */
    static final int MANIFEST_BODY_BYTES_MAX = 256 << 20;

    /** Files and directories of one snapshot. */
    static final int ENTRIES_MAX = 20_000;

    /** Packs that one manifest names. */
    static final int PACKS_MAX = 200_000;

    /** Size of one file. */
    static final long FILE_BYTES_MAX = 1L << 40;

    /** Length of one relative path in a snapshot. */
    static final int PATH_CHARS_MAX = 512;

    private Format() {}
}
