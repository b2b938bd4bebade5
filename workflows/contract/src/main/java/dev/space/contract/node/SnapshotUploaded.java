package dev.space.contract.node;

/**
 * A snapshot is in the object store, every part verified. Nobody may restore it before its row says
 * so.
 *
 * @param bytesStored bytes that the object store keeps for it, shared ones included
 * @param bytesUploaded bytes that were sent
 * @param bytesLogical bytes of its files
 */
public record SnapshotUploaded(
        String manifestKey,
        String manifestDigest,
        long bytesStored,
        long bytesUploaded,
        long bytesLogical) {}
