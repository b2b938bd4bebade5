package dev.space.contract.session;

/**
 * A snapshot that the object store holds whole, every part verified.
 *
 * @param snapshot what it is of; its node is where the last copy on a disk was
 * @param lineage whose key opens it
 * @param manifestKey name of its manifest in the object store
 * @param manifestDigest what the manifest must be; authenticated
 * @param bytesStored bytes that the object store keeps for it, shared ones included
 * @param bytesUploaded bytes that its upload had to send
 * @param bytesLogical bytes of its files
 */
public record DurableRef(
        SnapshotRef snapshot,
        String lineage,
        String manifestKey,
        String manifestDigest,
        long bytesStored,
        long bytesUploaded,
        long bytesLogical) {}
