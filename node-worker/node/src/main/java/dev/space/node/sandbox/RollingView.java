package dev.space.node.sandbox;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.volumes.ChangeMark;
import dev.space.node.volumes.SnapshotCosts;
import dev.space.node.volumes.SnapshotManifest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the node's own schedule and retention may do with sessions. Nothing here waits for a session
 * that a lifecycle step works on: it is left out and looked at again later.
 */
public final class RollingView {

    private static final Comparator<SnapshotManifest> OLDEST_FIRST =
            Comparator.<SnapshotManifest>comparingLong(m -> m.taken().epoch())
                    .thenComparingLong(m -> m.taken().stop());

    private final NodeParts parts;
    private final RollingStep step;
    private final Map<SessionId, Session> sessions;

    RollingView(NodeParts parts, RollingStep step, Map<SessionId, Session> sessions) {
        this.parts = parts;
        this.step = step;
        this.sessions = sessions;
    }

    /** Every session with files on this node. */
    public List<SessionId> sessions() {
        return List.copyOf(sessions.keySet());
    }

    /** Running sandboxes. */
    public List<Sandbox> sandboxes() {
        List<Sandbox> running = new ArrayList<>();
        for (Session session : sessions.values()) {
            Sandbox sandbox = session.sandbox();
            if (sandbox != null) {
                running.add(sandbox);
            }
        }
        return running;
    }

    /** The files of a running sandbox, under its VM; empty when it runs no more. */
    public Optional<VmFiles> files(Sandbox sandbox) {
        Session session = sessions.get(sandbox.session());
        return session != null && sandbox.equals(session.sandbox())
                ? Optional.of(new VmFiles(session.live()))
                : Optional.empty();
    }

    /** When the VM of this sandbox was started, in Unix milliseconds; 0 when that is not known. */
    public long startedMillis(Sandbox sandbox) {
        Session session = sessions.get(sandbox.session());
        LiveVm live = session == null ? null : session.record().live();
        return live != null && live.start().equals(sandbox.start()) ? live.startedMillis() : 0;
    }

    /** A snapshot of what runs now, written back before; empty when it was left out. */
    public Optional<SnapshotTaken> take(
            Sandbox sandbox, SnapshotId id, SnapshotKind kind, boolean freeze, ChangeMark mark) {
        Session session = sessions.get(sandbox.session());
        if (session == null) {
            return Optional.empty();
        }
        return step.take(session, sandbox, id, new RollingStep.RollingRequest(kind, freeze, mark));
    }

    /** A session's snapshots, the newest last. */
    public List<SnapshotManifest> snapshots(SessionId session) {
        return parts.snapshots().list(session).stream().sorted(OLDEST_FIRST).toList();
    }

    /** What each of a session's snapshots costs on the disk beside the newer ones. */
    public Map<SnapshotId, Long> costs(SessionId session) {
        return SnapshotCosts.of(parts.volume(), session, snapshots(session).reversed());
    }

    /** True when the sandbox of the session began with this snapshot, or the next one will. */
    public boolean standsOn(SessionId id, SnapshotId snapshot) {
        Session session = sessions.get(id);
        if (session == null) {
            return false;
        }
        SessionRecord record = session.record();
        Present present = record.present();
        LiveVm.Stop stop = record.live() == null ? null : record.live().stop();
        return (present != null && snapshot.equals(present.source()))
                || (stop != null && stop.snapshot().equals(snapshot));
    }

    /** Removes what the control plane lists no more; false when that must be asked for again. */
    public boolean forget(SessionId id, List<SnapshotId> snapshots) {
        return !sessions.containsKey(id) || snapshots.isEmpty() || !remove(id, snapshots).isEmpty();
    }

    /** Removes snapshots; answers which are gone now: all, or none while a step is at work. */
    public Set<SnapshotId> remove(SessionId id, List<SnapshotId> snapshots) {
        Session session = sessions.get(id);
        if (session == null || snapshots.isEmpty()) {
            return Set.of();
        }
        return session.<Set<SnapshotId>>whenIdle(
                        () -> {
                            for (SnapshotId snapshot : snapshots) {
                                parts.snapshots().delete(id, snapshot);
                            }
                            return Optional.of(Set.copyOf(snapshots));
                        })
                .orElse(Set.of());
    }
}
