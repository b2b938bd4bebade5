package dev.space.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One line of a benchmark's output.
 *
 * @param protocol what else the mode differs in; empty where there is nothing
 * @param n runs that were tried
 * @param floor name of what the same run measured for comparison
 * @param extra figures that only this benchmark has, in their order
 */
record BenchResult(
        String bench,
        String mode,
        String protocol,
        int n,
        Samples times,
        String floor,
        Samples floorTimes,
        Map<String, Double> extra) {

    private static final ObjectMapper JSON = new ObjectMapper();

    BenchResult(String bench, String mode, int n, Samples times, String floor, Samples floorTimes) {
        this(bench, mode, n, times, floor, floorTimes, Map.of());
    }

    BenchResult(
            String bench,
            String mode,
            int n,
            Samples times,
            String floor,
            Samples floorTimes,
            Map<String, Double> extra) {
        this(bench, mode, "", n, times, floor, floorTimes, extra);
    }

    private double ratio() {
        return times.millis(50) / floorTimes.millis(50);
    }

    String json() {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("bench", bench);
        line.put("mode", mode);
        if (!protocol.isEmpty()) {
            line.put("protocol", protocol);
        }
        line.put("n", n);
        line.put("ok", times.count());
        line.put("p50_ms", rounded(times.millis(50)));
        line.put("p90_ms", rounded(times.millis(90)));
        line.put("p99_ms", rounded(times.millis(99)));
        line.put("floor", floor);
        line.put("floor_n", floorTimes.count());
        line.put("floor_p50_ms", rounded(floorTimes.millis(50)));
        line.put("floor_p90_ms", rounded(floorTimes.millis(90)));
        line.put("ratio_p50", rounded(ratio()));
        extra.forEach((name, value) -> line.put(name, rounded(value)));
        try {
            return JSON.writeValueAsString(line);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("numbers and names can be written", e);
        }
    }

    String text() {
        StringBuilder out = new StringBuilder();
        out.append(
                String.format(
                        Locale.ROOT,
                        "%-14s %-12s n %d, ok %d (%.0f %%): p50 %.1f ms, p90 %.1f ms, p99 %.1f ms%n",
                        bench,
                        protocol.isEmpty() ? mode : mode + " " + protocol,
                        n,
                        times.count(),
                        n == 0 ? 0 : 100.0 * times.count() / n,
                        times.millis(50),
                        times.millis(90),
                        times.millis(99)));
        out.append(
                String.format(
                        Locale.ROOT,
                        "%-27s floor \"%s\": n %d, p50 %.1f ms, p90 %.1f ms; ratio of p50 %.2f",
                        "",
                        floor,
                        floorTimes.count(),
                        floorTimes.millis(50),
                        floorTimes.millis(90),
                        ratio()));
        extra.forEach((name, value) ->
                out.append(String.format(Locale.ROOT, "%n%-27s %s %.2f", "", name, value)));
        return out.toString();
    }

    /** JSON has no NaN; nothing measured is null. */
    private static @Nullable Double rounded(double value) {
        return Double.isFinite(value) ? Double.valueOf(Math.round(value * 1000) / 1000.0) : null;
    }
}
