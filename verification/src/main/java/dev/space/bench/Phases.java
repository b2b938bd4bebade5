package dev.space.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the time of creations goes, as the control plane's own metrics tell it: the mean of each
 * phase over what was created between two looks.
 */
final class Phases {

    private static final double MILLIS_PER_SECOND = 1e3;

    /** What the API measures from its door, and what lies below it. */
    private static final Pattern LINE =
            Pattern.compile(
                    "space_(session_create|create_phase)_seconds_(sum|count)\\{[^}]*"
                            + "phase=\"([^\"]+)\"[^}]*} (\\S+)");

    private final Map<String, Double> sums = new TreeMap<>();
    private final Map<String, Double> counts = new TreeMap<>();

    private Phases() {}

    static Phases now(int controlPort) throws IOException, InterruptedException {
        return of(scrape(controlPort));
    }

    static String scrape(int port) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + port + "/metrics");
            return http.send(
                            HttpRequest.newBuilder(uri).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    static Phases of(String metrics) {
        Phases phases = new Phases();
        Matcher lines = LINE.matcher(metrics);
        while (lines.find()) {
            String group = lines.group(1).equals("session_create") ? "api" : "step";
            Map<String, Double> into = lines.group(2).equals("sum") ? phases.sums : phases.counts;
            into.merge(
                    group + "." + lines.group(3), Double.parseDouble(lines.group(4)), Double::sum);
        }
        return phases;
    }

    /** Milliseconds of each phase, by name; only of what happened since the other look. */
    Map<String, Double> since(Phases before) {
        Map<String, Double> means = new TreeMap<>();
        sums.forEach((name, sum) -> {
            double n = counts.getOrDefault(name, 0.0) - before.counts.getOrDefault(name, 0.0);
            if (n > 0) {
                double spent = sum - before.sums.getOrDefault(name, 0.0);
                means.put(name + "_ms", spent / n * MILLIS_PER_SECOND);
            }
        });
        return means;
    }
}
