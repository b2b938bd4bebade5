package dev.space.node.rolling;

import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.Thinning;
import dev.space.node.rolling.SnapshotReports.Why;
import dev.space.node.sandbox.RollingView;
import dev.space.node.volumes.SnapshotManifest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes snapshots that the node made by itself: when others of the same span are left, when a
 * session has too many, when the disk is short of space. What an operation made stays until the
 * control plane asks for its removal, and so does what a sandbox began with.
 */
public final class Retention {

    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

    /** Removed at once when space is short: it comes free a while later. */
    private static final int SPACE_BATCH = 16;

    private final RollingView view;
    private final RollingSettings settings;
    private final SnapshotReports reports;
    private final RollingSnapshots.Space space;
    private final SteadyTime time;

    public Retention(
            RollingView view,
            RollingSettings settings,
            SnapshotReports reports,
            RollingSnapshots.Space space,
            SteadyTime time) {
        this.view = view;
        this.settings = settings;
        this.reports = reports;
        this.space = space;
        this.time = time;
    }

    /** Thins every session's snapshots, paused ones included. */
    public void thin() {
        boolean ages = time.isSteady();
        for (SessionId session : view.sessions()) {
            List<Thinning.Entry> entries = entries(session);
            Set<String> old =
                    ages ? settings.keep().removable(entries, time.unixMillis()) : Set.of();
            remove(session, old, Why.THINNED);
            List<Thinning.Entry> left =
                    entries.stream().filter(entry -> !old.contains(entry.id())).toList();
            remove(session, Thinning.beyond(left, settings.snapshotsMax()), Why.QUOTA);
        }
    }

    /** The oldest of the whole node go while it is short of space. */
    public void makeRoom() {
        long free = space.freeBytes();
        if (free >= settings.reserveBytes()) {
            return;
        }
        List<Candidate> oldest = new ArrayList<>();
        for (SessionId session : view.sessions()) {
            List<Thinning.Entry> entries = entries(session);
            for (String id : Thinning.beyond(entries, 0)) {
                long at =
                        entries.stream()
                                .filter(entry -> entry.id().equals(id))
                                .findFirst()
                                .orElseThrow()
                                .takenAtMillis();
                oldest.add(new Candidate(session, id, at));
            }
        }
        oldest.sort(Comparator.comparingLong(Candidate::takenAtMillis));
        List<Candidate> now = oldest.subList(0, Math.min(SPACE_BATCH, oldest.size()));
        if (!now.isEmpty()) {
            LOG.warn(
                    "{} MiB are free and {} are wanted: the {} oldest rolling snapshots go",
                    free >> 20,
                    settings.reserveBytes() >> 20,
                    now.size());
        }
        for (Candidate candidate : now) {
            remove(candidate.session(), List.of(candidate.id()), Why.SPACE);
        }
    }

    private record Candidate(SessionId session, String id, long takenAtMillis) {}

    private List<Thinning.Entry> entries(SessionId session) {
        return entries(view, session);
    }

    /** A session's snapshots, the newest last, and whether each may go. */
    static List<Thinning.Entry> entries(RollingView view, SessionId session) {
        return view.snapshots(session).stream().map(m -> entry(view, session, m)).toList();
    }

    private static Thinning.Entry entry(
            RollingView view, SessionId session, SnapshotManifest manifest) {
        SnapshotId id = manifest.taken().snapshot();
        boolean kept = !manifest.isRolling() || view.standsOn(session, id);
        return new Thinning.Entry(
                id.value(),
                manifest.taken().takenAtMillis(),
                manifest.taken().kind() == SnapshotKind.FULL,
                kept);
    }

    private void remove(SessionId session, Collection<String> ids, Why why) {
        if (ids.isEmpty()) {
            return;
        }
        Set<SnapshotId> gone = view.remove(session, ids.stream().map(SnapshotId::new).toList());
        if (!gone.isEmpty()) {
            LOG.debug("removed {} of {}: {}", gone.size(), session, why);
            reports.removed(session, gone, why);
        }
    }
}
