package dev.space.bench.gateway;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a job brought; a line on the client's standard output.
 *
 * @param failed requests and connections
 * @param bytes of bodies, also of those that were under way at the end
 * @param nanos from the first request, when all connections were there
 * @param times of single requests, in nanoseconds; only where one at a time was made
 */
public record Figures(int ok, int failed, long bytes, long nanos, List<Long> times) {

    private static final double NANOS = 1e9;

    /** Takes a copy of the times. */
    public Figures {
        times = List.copyOf(times);
    }

    public double requestsPerSecond() {
        return ok / (nanos / NANOS);
    }

    public double bytesPerSecond() {
        return bytes / (nanos / NANOS);
    }

    String line() {
        return Stream.concat(Stream.of((long) ok, (long) failed, bytes, nanos), times.stream())
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
    }

    static Figures of(String line) {
        List<Long> all = Stream.of(line.split(" ", -1)).map(Long::valueOf).toList();
        return new Figures(
                all.get(0).intValue(),
                all.get(1).intValue(),
                all.get(2),
                all.get(3),
                all.subList(4, all.size()));
    }
}
