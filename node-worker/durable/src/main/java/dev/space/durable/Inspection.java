package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What can be checked of a snapshot's objects by somebody who may not read them. */
final class Inspection {

    private Inspection() {}

    static Verification run(ObjectStore store, String manifestKey, String digest) {
        byte[] object;
        ManifestCodec.Head head;
        try {
            object = ManifestObjects.requireObject(store, manifestKey, digest);
            head = ManifestCodec.head(object);
        } catch (SpaceException e) {
            if (e.code() != ErrorCode.SNAPSHOT_CORRUPT) {
                throw e;
            }
            return new Verification(0, 0, 0, List.of(String.valueOf(e.getMessage())));
        }
        List<String> faults = new ArrayList<>();
        if (!head.owner().manifest().equals(manifestKey)) {
            faults.add(manifestKey + " is the manifest of " + head.owner());
        }
        for (Manifest.Pack pack : head.packs()) {
            String key = pack.key(head.owner().lineage());
            Optional<ObjectStore.Stat> there = store.stat(key);
            if (there.isEmpty()) {
                faults.add("pack " + key + " is missing");
            } else if (there.get().length() != pack.length()) {
                faults.add(
                        "pack %s has %d bytes instead of %d"
                                .formatted(key, there.get().length(), pack.length()));
            }
        }
        return new Verification(head.packs().size(), 0, object.length, faults);
    }
}
