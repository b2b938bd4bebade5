package dev.space.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Times of one measured thing. Thread-safe. */
public final class Samples {

    private static final double NANOS_PER_MILLI = 1e6;

    private final List<Long> nanos = Collections.synchronizedList(new ArrayList<>());

    /** One run of the thing. */
    public interface Work {
        void run() throws Exception;
    }

    public void add(Duration time) {
        nanos.add(time.toNanos());
    }

    /** Forgets what was measured to warm up. */
    public void clear() {
        nanos.clear();
    }

    public int count() {
        return nanos.size();
    }

    /** The nearest-rank percentile in milliseconds; NaN when nothing was measured. */
    public double millis(int percent) {
        List<Long> sorted;
        synchronized (nanos) {
            sorted = nanos.stream().sorted().toList();
        }
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        int rank = Math.max(1, (int) Math.ceil(percent / 100.0 * sorted.size()));
        return sorted.get(rank - 1) / NANOS_PER_MILLI;
    }
}
