package dev.space.durable;

import java.util.HexFormat;
import java.util.Optional;

/** Reads manifests from the store; one that a row names must be the very object of that row. */
final class ManifestObjects {

    private ManifestObjects() {}

    static String digest(byte[] object) {
        return HexFormat.of().formatHex(Fingerprints.sha256().digest(object));
    }

    static Optional<byte[]> find(ObjectStore store, String key) {
        Optional<ObjectStore.Stat> stat = store.stat(key);
        if (stat.isEmpty()) {
            return Optional.empty();
        }
        long length = stat.get().length();
        if (length > Format.MANIFEST_BYTES_MAX) {
            throw Corruption.of("manifest " + key + " has " + length + " bytes");
        }
        byte[] object = new byte[(int) length];
        return store.read(key, 0, object.length, object) == object.length
                ? Optional.of(object)
                : Optional.empty();
    }

    static byte[] requireObject(ObjectStore store, String key, String digest) {
        byte[] object =
                find(store, key)
                        .orElseThrow(() -> Corruption.of("manifest " + key + " is missing"));
        if (!digest(object).equals(digest)) {
            throw Corruption.of("manifest " + key + " is not the one that was published");
        }
        return object;
    }

    static Manifest require(ObjectStore store, DurableSnapshot snapshot, LineageKeys keys) {
        String key = snapshot.manifestKey();
        Manifest manifest =
                ManifestCodec.decode(requireObject(store, key, snapshot.manifestDigest()), keys);
        if (!manifest.owner().manifest().equals(key)) {
            throw Corruption.of(key + " is the manifest of " + manifest.owner());
        }
        return manifest;
    }
}
