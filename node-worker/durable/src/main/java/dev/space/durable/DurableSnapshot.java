package dev.space.durable;

/**
 * A snapshot in the object store, as its row names it.
 *
 * @param manifestKey name of the manifest object
 * @param manifestDigest SHA-256 of the manifest object, 64 lower-case hexadecimal digits
 * @param bytesStored bytes of all objects that the snapshot needs
 * @param bytesUploaded of these, what this upload had to send
 * @param bytesLogical sizes of its files together
 */
public record DurableSnapshot(
        String manifestKey,
        String manifestDigest,
        long bytesStored,
        long bytesUploaded,
        long bytesLogical) {}
