package dev.space.node.rolling;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.node.sandbox.RollingView;
import dev.space.node.sandbox.Sandbox;
import dev.space.node.volumes.ChangeMark;
import dev.space.node.volumes.SnapshotManifest;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes snapshots of what runs: its disk often, a checkpoint less often, nothing when the guest did
 * nothing since. Whoever calls {@link #look} gives the rhythm; the work is the executor's. What is
 * remembered is made again from the manifests after a restart.
 */
public final class RollingSnapshots {

    private static final Logger LOG = LoggerFactory.getLogger(RollingSnapshots.class);

    /** When something that can be done later was left out. */
    private static final long RETRY_MILLIS = 2_000;

    private static final long NEVER = Long.MAX_VALUE / 2;

    private final RollingView view;
    private final RollingSettings settings;
    private final SnapshotReports reports;
    private final Space space;
    private final LongSupplier clock;
    private final LongSupplier unixMillis;
    private final Executor executor;
    private final SecureRandom random = new SecureRandom();
    private final Map<SessionId, Track> tracks = new ConcurrentHashMap<>();

    /** How much room is left. */
    @FunctionalInterface
    public interface Space {
        long freeBytes();
    }

    /**
     * @param clock milliseconds of a clock that only goes forward
     * @param unixMillis the time that manifests carry
     */
    public RollingSnapshots(
            RollingView view,
            RollingSettings settings,
            SnapshotReports reports,
            Space space,
            LongSupplier clock,
            LongSupplier unixMillis,
            Executor executor) {
        this.view = view;
        this.settings = settings;
        this.reports = reports;
        this.space = space;
        this.clock = clock;
        this.unixMillis = unixMillis;
        this.executor = executor;
    }

    /** Starts what is due. Costs nothing for a sandbox that is not. */
    public void look() {
        if (!settings.takesAny()) {
            return;
        }
        Set<SessionId> seen = new HashSet<>();
        for (Sandbox sandbox : view.sandboxes()) {
            seen.add(sandbox.session());
            Track track = tracks.get(sandbox.session());
            if (track == null || !track.start.equals(sandbox.start())) {
                track = begin(sandbox);
                if (track == null) {
                    continue;
                }
                tracks.put(sandbox.session(), track);
            }
            Track due = track;
            if (due.isDue(clock.getAsLong()) && due.busy.compareAndSet(false, true)) {
                executor.execute(() -> work(sandbox, due));
            }
        }
        tracks.keySet().retainAll(seen);
    }

    private void work(Sandbox sandbox, Track track) {
        try {
            takeDue(sandbox, track);
        } catch (RuntimeException e) {
            LOG.warn("no snapshot of {} this time: {}", sandbox.session(), e.toString());
            LOG.debug("the failure", e);
            defer(track, clock.getAsLong(), false);
        } finally {
            track.busy.set(false);
        }
    }

    /** What is remembered of a sandbox that is seen for the first time; null: not yet. */
    private @Nullable Track begin(Sandbox sandbox) {
        ChangeMark now;
        try {
            now = mark(sandbox);
        } catch (RuntimeException e) {
            LOG.debug("{} does not answer yet", sandbox.session(), e);
            return null;
        }
        ChangeMark disk = untouched(now, view.startedMillis(sandbox));
        ChangeMark full = disk;
        long diskAge = 0;
        long fullAge = 0;
        for (SnapshotManifest manifest : view.snapshots(sandbox.session())) {
            ChangeMark mark = manifest.mark();
            if (manifest.taken().epoch() != sandbox.start().epoch() || mark == null) {
                continue;
            }
            long age = Math.max(0, unixMillis.getAsLong() - manifest.taken().takenAtMillis());
            disk = mark;
            diskAge = age;
            if (manifest.taken().kind() == SnapshotKind.FULL) {
                full = mark;
                fullAge = age;
            }
        }
        long at = clock.getAsLong();
        return new Track(
                sandbox.start(),
                disk,
                full,
                due(at, settings.diskEvery().toMillis(), diskAge),
                due(at, settings.fullEvery().toMillis(), fullAge));
    }

    /**
     * The mark of a sandbox without snapshots: as it is now, unless something was asked of it since
     * it started. Then nothing is known, and whatever comes is a change.
     */
    private static ChangeMark untouched(ChangeMark now, long startedMillis) {
        return now.inputMillis() > startedMillis ? new ChangeMark(0, now.cpuMicros()) : now;
    }

    private static long due(long at, long every, long age) {
        return every == 0 ? NEVER : at + Math.max(0, every - age);
    }

    private static ChangeMark mark(Sandbox sandbox) {
        return ChangeMark.of(sandbox.guest().activity());
    }

    private void takeDue(Sandbox sandbox, Track track) {
        long at = clock.getAsLong();
        // What the guest does from here on counts as a change after this snapshot.
        ChangeMark now = mark(sandbox);
        boolean full = at - track.fullDue >= 0 && track.full.isBefore(now);
        boolean disk = at - track.diskDue >= 0 && track.disk.isBefore(now);
        if (!full && !disk) {
            defer(track, at, false);
            return;
        }
        if (space.freeBytes() < settings.reserveBytes()) {
            defer(track, at, false);
            return;
        }
        SnapshotKind kind = full ? SnapshotKind.FULL : SnapshotKind.DISK;
        if (full) {
            sandbox.vm().writeBack();
        } else {
            sandbox.vm().writeBackDisk();
        }
        SnapshotId id = newId();
        Optional<SnapshotTaken> taken = view.take(sandbox, id, kind, settings.freeze(), now);
        if (taken.isEmpty()) {
            defer(track, at, true);
            return;
        }
        reports.taken(sandbox.session(), sandbox.start(), taken.get());
        track.disk = now;
        if (full) {
            track.full = now;
            track.full = now.afterStop(mark(sandbox));
            track.disk = track.full;
        }
        defer(track, at, false);
        LOG.debug("took {} {} of {}", kind, id, sandbox.session());
    }

    /** Sets when what is due now is looked at again. */
    private void defer(Track track, long at, boolean soon) {
        if (at - track.diskDue >= 0) {
            track.diskDue = at + (soon ? RETRY_MILLIS : settings.diskEvery().toMillis());
        }
        if (at - track.fullDue >= 0) {
            track.fullDue = at + (soon ? RETRY_MILLIS : settings.fullEvery().toMillis());
        }
    }

    private SnapshotId newId() {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(bytes);
        return new SnapshotId(Ids.text("snp", bytes));
    }
}
