package dev.space.durable;

import dev.space.model.SpaceException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what no upload needs. The rule: rows are read before anything is looked for in the store,
 * and once more before anything is removed; an object goes only when by both reads its own upload
 * has ended without counting or counts without needing it, no manifest that counts names it, and it
 * is older than the grace period. An upload writes under its own number only and takes from others
 * by its predecessor's manifest only, which its row names from before its first request on; so
 * nothing that an upload relies on can become garbage under its hands. Where a manifest that counts
 * cannot be read, nothing of its lineage is removed.
 */
public final class GarbageCollector implements AutoCloseable {

    /** Younger objects stay in any case: clocks differ, and listings lag. */
    public static final Duration GRACE = Duration.ofHours(1);

    /** Objects of one run; what is left is found by the next. */
    static final int CANDIDATES_MAX = 50_000;

    private static final Logger LOG = LoggerFactory.getLogger(GarbageCollector.class);

    /**
     * What a run did.
     *
     * @param seen objects that were looked at
     * @param kept lineages that were left alone because a manifest that counts cannot be read
     * @param unknown objects under our prefix whose names no upload makes; never removed
     */
    public record Outcome(long seen, long removed, long removedBytes, int kept, long unknown) {}

    private final ObjectStore store;
    private final SnapshotReferences rows;
    private final Clock clock;
    private final Duration grace;
    private final LiveObjects.Heads heads;

    public GarbageCollector(S3Settings settings, SnapshotReferences rows, Clock clock) {
        this(new S3ObjectStore(settings), rows, clock, GRACE);
    }

    GarbageCollector(ObjectStore store, SnapshotReferences rows, Clock clock, Duration grace) {
        this.store = store;
        this.rows = rows;
        this.clock = clock;
        this.grace = grace;
        this.heads = new LiveObjects.Heads(store);
    }

    private record Candidate(Names.Owner owner, ObjectStore.Listed object) {}

    /** One run; ends early, with what it did by then, when it is no longer wanted. */
    public Outcome collect(BooleanSupplier goOn) {
        LiveObjects before = new LiveObjects(rows.read(), heads);
        Instant cutoff = clock.instant().minus(grace);
        List<Candidate> candidates = new ArrayList<>();
        long[] counts = new long[2];
        store.list(
                Names.ROOT,
                object -> {
                    counts[0]++;
                    var owner = Names.owner(object.key());
                    if (owner.isEmpty()) {
                        counts[1]++;
                    } else if (object.modified().isBefore(cutoff)
                            && candidates.size() < CANDIDATES_MAX
                            && !before.isRunning(owner.get())
                            && !before.isLive(owner.get(), object.key())) {
                        candidates.add(new Candidate(owner.get(), object));
                    }
                });
        LiveObjects now = new LiveObjects(rows.read(), heads);
        Set<LineageId> kept = new HashSet<>(before.unreadable());
        long removed = 0;
        long bytes = 0;
        for (Candidate candidate : candidates) {
            String key = candidate.object().key();
            if (!goOn.getAsBoolean()) {
                break;
            }
            if (!now.isRunning(candidate.owner()) && !now.isLive(candidate.owner(), key)) {
                store.delete(key);
                removed++;
                bytes += candidate.object().length();
            }
        }
        kept.addAll(now.unreadable());
        if (counts[1] > 0) {
            LOG.warn("{} objects under {} have unknown names and stay", counts[1], Names.ROOT);
        }
        return new Outcome(counts[0], removed, bytes, kept.size(), counts[1]);
    }

    /** Whether the store answers; for health checks. */
    public boolean isReachable() {
        try {
            var _ = store.stat(Names.ROOT + "none");
            return true;
        } catch (SpaceException e) {
            LOG.debug("the object store is away", e);
            return false;
        }
    }

    @Override
    public void close() {
        heads.forget();
    }
}
