package dev.space.durable;

import dev.space.durable.SnapshotReferences.ManifestName;
import dev.space.durable.SnapshotReferences.Reference;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which objects one reading of the rows needs. Manifests are read only where it matters. */
final class LiveObjects {

    private static final Logger LOG = LoggerFactory.getLogger(LiveObjects.class);

    private final Set<Names.Owner> running = new HashSet<>();
    private final Map<LineageId, List<ManifestName>> manifests = new HashMap<>();
    private final Map<LineageId, Set<String>> live = new HashMap<>();
    private final Set<LineageId> unreadable = new HashSet<>();
    private final Heads heads;

    LiveObjects(List<Reference> rows, Heads heads) {
        this.heads = heads;
        for (Reference row : rows) {
            List<ManifestName> named =
                    manifests.computeIfAbsent(row.lineage(), _ -> new ArrayList<>());
            row.complete().ifPresent(named::add);
            row.previous().ifPresent(named::add);
            if (row.complete().isEmpty()) {
                running.add(new Names.Owner(row.lineage(), row.session(), row.snapshot()));
            }
        }
    }

    /** True while the upload that wrote the object may go on: all of its objects stay. */
    boolean isRunning(Names.Owner owner) {
        return running.contains(owner);
    }

    boolean isLive(Names.Owner owner, String key) {
        LineageId lineage = owner.lineage();
        if (unreadable.contains(lineage)) {
            return true;
        }
        Set<String> known = live.get(lineage);
        if (known == null) {
            known = read(lineage);
            live.put(lineage, known);
        }
        return unreadable.contains(lineage) || known.contains(key);
    }

    private Set<String> read(LineageId lineage) {
        Set<String> keys = new HashSet<>();
        for (ManifestName name : manifests.getOrDefault(lineage, List.of())) {
            try {
                keys.add(name.key());
                for (Manifest.Pack pack : heads.of(name)) {
                    keys.add(pack.key(lineage));
                }
            } catch (SpaceException e) {
                if (e.code() != ErrorCode.SNAPSHOT_CORRUPT) {
                    throw e;
                }
                LOG.warn("nothing of lineage {} is removed: {}", lineage, e.getMessage());
                unreadable.add(lineage);
            }
        }
        return keys;
    }

    Set<LineageId> unreadable() {
        return unreadable;
    }

    /** What manifests name; they never change, so the last few are remembered. */
    static final class Heads {

        private static final int KNOWN_MAX = 2_000;

        private final ObjectStore store;
        private final Map<ManifestName, List<Manifest.Pack>> known =
                new LinkedHashMap<>() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    protected boolean removeEldestEntry(
                            Map.Entry<ManifestName, List<Manifest.Pack>> eldest) {
                        return size() > KNOWN_MAX;
                    }
                };

        Heads(ObjectStore store) {
            this.store = store;
        }

        synchronized List<Manifest.Pack> of(ManifestName name) {
            List<Manifest.Pack> there = known.get(name);
            if (there == null) {
                byte[] object = ManifestObjects.requireObject(store, name.key(), name.digest());
                there = ManifestCodec.head(object).packs();
                known.put(name, there);
            }
            return there;
        }

        synchronized void forget() {
            known.clear();
        }
    }
}
