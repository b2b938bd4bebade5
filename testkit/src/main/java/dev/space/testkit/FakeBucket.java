package dev.space.testkit;

import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.session.DurableRef;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** An object store: it has what was put there, under names that are never used again. */
public final class FakeBucket {

    private final Map<String, SnapshotTaken> manifests = new LinkedHashMap<>();
    private boolean reachable = true;

    /** While it is not, every transfer fails. */
    public synchronized void reachable(boolean yes) {
        reachable = yes;
    }

    synchronized String put(String session, long upload, SnapshotTaken snapshot) {
        requireReachable();
        String key = session + "/" + upload;
        SnapshotTaken before = manifests.putIfAbsent(key, snapshot);
        if (before != null && !before.equals(snapshot)) {
            throw new IllegalStateException(key + " would be written twice");
        }
        return key;
    }

    synchronized SnapshotTaken get(DurableRef ref) {
        requireReachable();
        SnapshotTaken found = manifests.get(ref.manifestKey());
        if (found == null || !found.snapshot().equals(ref.snapshot().id())) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND, ref.manifestKey() + " is not stored");
        }
        return found;
    }

    private void requireReachable() {
        if (!reachable) {
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the object store is away");
        }
    }

    /** Names of all that is stored. */
    public synchronized Set<String> keys() {
        return Set.copyOf(manifests.keySet());
    }

    /** What nobody refers to goes. */
    public synchronized void keepOnly(Set<String> referred) {
        manifests.keySet().retainAll(referred);
    }
}
