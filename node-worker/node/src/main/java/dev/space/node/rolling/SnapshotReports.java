package dev.space.node.rolling;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import java.util.Collection;

/** Where the control plane is told of snapshots that the node made or removed by itself. */
public interface SnapshotReports {

    /**
     * A snapshot is published.
     *
     * @param start of the VM that it is of
     */
    void taken(SessionId session, Fence start, SnapshotTaken taken);

    /** Snapshots are gone. */
    void removed(SessionId session, Collection<SnapshotId> snapshots, Why why);

    /** Why snapshots were removed. */
    enum Why {
        /** They were old, and others of the same span of time are left. */
        THINNED,
        /** The session had more than it may have. */
        QUOTA,
        /** The node's disk is short of space. */
        SPACE
    }
}
