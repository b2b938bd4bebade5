package dev.space.node.rolling;

import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.Thinning;
import dev.space.node.rolling.SnapshotReports.Why;
import dev.space.node.sandbox.RollingView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds what snapshots cost on the disk: those of a session, and those of all sessions of the
 * node. Beyond a bound the oldest go that the node made by itself and nothing stands on. What
 * operations made counts, but is the control plane's to remove. One thread calls.
 */
public final class ByteQuotas {

    private static final Logger LOG = LoggerFactory.getLogger(ByteQuotas.class);

    /** Sessions that are measured at one look: telling extents costs a disk's time. */
    private static final int MEASURED_MAX = 32;

    private final RollingView view;
    private final RollingSettings settings;
    private final SnapshotReports reports;
    private final Map<SessionId, Map<SnapshotId, Long>> costs = new HashMap<>();
    private volatile Used used = new Used(0, 0);

    /**
     * What snapshots cost by the last look; nothing is measured without a bound.
     *
     * @param largestBytes those of the session with the most
     */
    public record Used(long nodeBytes, long largestBytes) {}

    public ByteQuotas(RollingView view, RollingSettings settings, SnapshotReports reports) {
        this.view = view;
        this.settings = settings;
        this.reports = reports;
    }

    /** Measures what changed and removes what is too much. */
    public void look() {
        if (settings.sessionBytes() == 0 && settings.nodeBytes() == 0) {
            return;
        }
        measure();
        if (settings.sessionBytes() > 0) {
            for (SessionId session : List.copyOf(costs.keySet())) {
                remove(session, beyond(session), settings.sessionBytes());
            }
        }
        if (settings.nodeBytes() > 0) {
            boundNode();
        }
        List<Long> each =
                costs.values().stream()
                        .map(c -> c.values().stream().mapToLong(Long::longValue).sum())
                        .toList();
        used =
                new Used(
                        each.stream().mapToLong(Long::longValue).sum(),
                        each.stream().mapToLong(Long::longValue).max().orElse(0));
    }

    public Used used() {
        return used;
    }

    public RollingSettings bounds() {
        return settings;
    }

    private void measure() {
        List<SessionId> sessions = view.sessions();
        costs.keySet().retainAll(sessions);
        int left = MEASURED_MAX;
        for (SessionId session : sessions) {
            Set<SnapshotId> now =
                    view.snapshots(session).stream()
                            .map(manifest -> manifest.taken().snapshot())
                            .collect(Collectors.toSet());
            boolean known = now.equals(costs.getOrDefault(session, Map.of()).keySet());
            if (!known && left > 0) {
                left--;
                costs.put(session, view.costs(session));
            }
        }
    }

    /** The newest of a session stay as far as the bound goes. */
    private List<Candidate> beyond(SessionId session) {
        Map<SnapshotId, Long> each = costs.getOrDefault(session, Map.of());
        List<Candidate> gone = new ArrayList<>();
        long sum = 0;
        List<Thinning.Entry> entries = Retention.entries(view, session);
        Set<String> mayGo = Set.copyOf(Thinning.beyond(entries, 0));
        for (Thinning.Entry entry : entries.reversed()) {
            long cost = each.getOrDefault(new SnapshotId(entry.id()), 0L);
            sum += cost;
            if (sum > settings.sessionBytes() && mayGo.contains(entry.id())) {
                gone.addFirst(new Candidate(session, entry, cost));
            }
        }
        return gone;
    }

    private void boundNode() {
        long sum =
                costs.values().stream()
                        .flatMap(each -> each.values().stream())
                        .mapToLong(Long::longValue)
                        .sum();
        List<Candidate> all = new ArrayList<>();
        costs.forEach((session, each) -> {
            List<Thinning.Entry> entries = Retention.entries(view, session);
            Set<String> mayGo = Set.copyOf(Thinning.beyond(entries, 0));
            for (Thinning.Entry entry : entries) {
                if (mayGo.contains(entry.id())) {
                    all.add(
                            new Candidate(
                                    session,
                                    entry,
                                    each.getOrDefault(new SnapshotId(entry.id()), 0L)));
                }
            }
        });
        all.sort(Comparator.comparingLong(candidate -> candidate.entry().takenAtMillis()));
        Map<SessionId, List<Candidate>> gone = new HashMap<>();
        for (Candidate candidate : all) {
            if (sum <= settings.nodeBytes()) {
                break;
            }
            sum -= candidate.bytes();
            gone.computeIfAbsent(candidate.session(), _ -> new ArrayList<>()).add(candidate);
        }
        gone.forEach((session, candidates) -> remove(session, candidates, settings.nodeBytes()));
    }

    private record Candidate(SessionId session, Thinning.Entry entry, long bytes) {}

    private void remove(SessionId session, List<Candidate> candidates, long bound) {
        if (candidates.isEmpty()) {
            return;
        }
        List<SnapshotId> ids =
                candidates.stream().map(c -> new SnapshotId(c.entry().id())).toList();
        Set<SnapshotId> gone = view.remove(session, ids);
        if (!gone.isEmpty()) {
            long bytes = candidates.stream().mapToLong(Candidate::bytes).sum();
            LOG.info(
                    "the {} oldest rolling snapshots of {} go, {} MiB: beyond {} MiB",
                    gone.size(),
                    session,
                    bytes >> 20,
                    bound >> 20);
            costs.remove(session); // measured anew
            reports.removed(session, gone, Why.QUOTA);
        }
    }
}
