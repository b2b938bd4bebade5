package dev.space.node.reports;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotReason;
import dev.space.node.api.Wire;
import dev.space.node.rolling.SnapshotReports;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.SnapshotsRemoved;
import java.util.Collection;

/**
 * Puts what the node made and removed by itself into the outbox. A report that is lost with a
 * killed process is made up for by the control plane's look at the node's inventory.
 */
public record SnapshotOutbox(ReportSink sink) implements SnapshotReports {

    /** Ids in one report; the rest go into the next. */
    private static final int IDS_MAX = 500;

    @Override
    public void taken(SessionId session, Fence start, SnapshotTaken taken) {
        sink.add(
                Report.newBuilder()
                        .setSessionId(session.value())
                        .setEpoch(start.epoch())
                        .setNumber(start.number())
                        .setAttempt(start.attempt())
                        .setSnapshotTaken(
                                Wire.snapshot(taken).setReason(SnapshotReason.ROLLING.name())),
                false);
    }

    @Override
    public void removed(SessionId session, Collection<SnapshotId> snapshots, Why why) {
        SnapshotsRemoved.Builder removed = SnapshotsRemoved.newBuilder().setWhy(why.name());
        for (SnapshotId snapshot : snapshots) {
            removed.addSnapshotIds(snapshot.value());
            if (removed.getSnapshotIdsCount() == IDS_MAX) {
                add(session, removed);
                removed.clearSnapshotIds();
            }
        }
        if (removed.getSnapshotIdsCount() > 0) {
            add(session, removed);
        }
    }

    private void add(SessionId session, SnapshotsRemoved.Builder removed) {
        sink.add(
                Report.newBuilder()
                        .setSessionId(session.value())
                        .setSnapshotsRemoved(removed.build()),
                false);
    }
}
