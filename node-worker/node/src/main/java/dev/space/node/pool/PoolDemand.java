package dev.space.node.pool;

import dev.space.model.Size;
import dev.space.node.sandbox.MemoryBudget;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * How many hot VMs are worth keeping: as many as were created within the busiest half minute of the
 * last ten, for while sessions are being started nothing is made. The number grows at once and
 * falls by one a minute, so that demand which comes in waves ends and makes nothing in between.
 */
final class PoolDemand {

    /** Two beside each other are the half minute. */
    private static final long SPAN_NANOS = Duration.ofSeconds(15).toNanos();

    private static final int SPANS = 40;
    private static final long FALL_NANOS = Duration.ofMinutes(1).toNanos();

    /** Of one template and size. */
    private static final int TARGET_MAX = 64;

    /** Templates and sizes that are watched at once; the others have no demand. */
    private static final int KEYS_MAX = 256;

    /** What VMs are made for. */
    record Key(String template, Size size) {}

    /**
     * What there is for hot VMs.
     *
     * @param vms how many there may be at most
     */
    record Room(long memoryBytes, int vms) {}

    private static final class Track {
        private final int[] created = new int[SPANS];
        private long span;
        private int target;
        private long heldSince;

        Track(long span, long now) {
            this.span = span;
            this.heldSince = now;
        }

        void moveTo(long now) {
            for (long next = Math.max(span + 1, now - SPANS + 1); next <= now; next++) {
                created[(int) (next % SPANS)] = 0;
            }
            span = Math.max(span, now);
        }

        /** The most in two spans that follow each other; the oldest follows none. */
        int peak() {
            int peak = 0;
            int before = 0;
            for (long each = span - SPANS + 1; each <= span; each++) {
                int here = created[(int) Math.floorMod(each, (long) SPANS)];
                peak = Math.max(peak, before + here);
                before = here;
            }
            return Math.min(peak, TARGET_MAX);
        }
    }

    private final LongSupplier nanoTime;
    private final long start;
    private final Map<Key, Track> tracks = new HashMap<>();

    /**
     * @param nanoTime a clock that only goes forward
     */
    PoolDemand(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
    }

    private long now() {
        return nanoTime.getAsLong() - start;
    }

    /** A session of it is being created. */
    synchronized void created(Key key) {
        if (tracks.size() < KEYS_MAX || tracks.containsKey(key)) {
            long now = now();
            Track track = track(key, now);
            track.moveTo(now / SPAN_NANOS);
            track.created[(int) (track.span % SPANS)]++;
        }
    }

    private Track track(Key key, long now) {
        return tracks.computeIfAbsent(key, _ -> new Track(now / SPAN_NANOS, now));
    }

    /**
     * What to keep of each, those that are always kept first: at least one of these, and of no
     * other than what was asked for. Where there is not room for all, the largest get less.
     */
    synchronized Map<Key, Integer> targets(Collection<Key> always, Room room) {
        long now = now();
        always.forEach(key -> track(key, now));
        Map<Key, Integer> targets = new LinkedHashMap<>();
        always.forEach(key -> targets.put(key, 1));
        tracks.forEach((key, track) -> {
            int target = target(track, always.contains(key) ? 1 : 0, now);
            if (target > 0) {
                targets.put(key, target);
            }
        });
        tracks.entrySet().removeIf(e -> e.getValue().target == 0 && e.getValue().peak() == 0);
        fit(targets, room);
        return targets;
    }

    private static int target(Track track, int least, long now) {
        track.moveTo(now / SPAN_NANOS);
        int wanted = Math.max(least, track.peak());
        if (wanted >= track.target) {
            track.target = wanted;
            track.heldSince = now;
        } else if (now - track.heldSince >= FALL_NANOS) {
            track.target--;
            track.heldSince = now;
        }
        return track.target;
    }

    private static void fit(Map<Key, Integer> targets, Room room) {
        while (isTooMuch(targets, room)) {
            Optional<Map.Entry<Key, Integer>> largest =
                    targets.entrySet().stream()
                            .filter(e -> e.getValue() > 0)
                            .max(
                                    Comparator.comparingLong(e ->
                                            e.getValue() * MemoryBudget.bytes(e.getKey().size())));
            if (largest.isEmpty()) {
                return;
            }
            largest.get().setValue(largest.get().getValue() - 1);
        }
    }

    private static boolean isTooMuch(Map<Key, Integer> targets, Room room) {
        long bytes = 0;
        int vms = 0;
        for (Map.Entry<Key, Integer> each : targets.entrySet()) {
            bytes += each.getValue() * MemoryBudget.bytes(each.getKey().size());
            vms += each.getValue();
        }
        return bytes > room.memoryBytes() || vms > room.vms();
    }
}
