package dev.space.durable;

/**
 * Where a chunk is stored.
 *
 * @param pack place of its pack in the manifest's list
 * @param offset of its first byte in the pack
 * @param sealed bytes in the pack
 * @param length bytes of its content
 */
record ChunkRef(ChunkId id, int pack, int offset, int sealed, int length) {

    ChunkRef inPack(int other) {
        return new ChunkRef(id, other, offset, sealed, length);
    }
}
