package dev.space.service.repair;

import dev.space.model.SnapshotId;
import dev.space.nodeapi.v1.NodeLifecycleGrpc.NodeLifecycleBlockingStub;
import dev.space.service.command.SnapshotRemoval;
import dev.space.store.DurableRows;
import dev.space.store.SnapshotRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Copies that a node keeps of what the object store has whole, of sessions that are not on it any
 * more: they make a restore there faster, and go when the node needs their space, the oldest first.
 */
@Singleton
public class CachedCopies {
    /** Below this a node's own rolling snapshots begin to go too, by default. */
    private static final long FREE_BYTES_MIN = 2L << 30;

    /** Removed at one look: space comes free a while later. */
    private static final int BATCH_MAX = 16;

    private static final Logger LOG = Logger.getLogger(CachedCopies.class);

    private final DurableRows durables;
    private final SnapshotRows snapshots;

    @Inject
    public CachedCopies(DurableRows durables, SnapshotRows snapshots) {
        this.durables = durables;
        this.snapshots = snapshots;
    }

    /** What is listed and not stored has no other copy: it is never among these (rule 16). */
    void makeRoom(String node, NodeLifecycleBlockingStub stub, long freeBytes) {
        if (freeBytes >= FREE_BYTES_MIN) {
            return;
        }
        for (DurableRows.Copy copy : durables.copiesOn(node, BATCH_MAX)) {
            if (snapshots.evict(copy.session(), node, copy.snapshot())) {
                LOG.infof("node %s is short of space: its copy of %s goes", node, copy.snapshot());
                remove(node, stub, copy);
            }
        }
    }

    private void remove(String node, NodeLifecycleBlockingStub stub, DurableRows.Copy copy) {
        List<SnapshotId> ids = List.of(copy.snapshot());
        try {
            var _ = stub.removeSnapshots(SnapshotRemoval.request(copy.session(), ids));
        } catch (RuntimeException failure) {
            snapshots.notEvicted(copy.snapshot(), node);
            throw failure;
        }
    }
}
