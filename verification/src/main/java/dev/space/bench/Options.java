package dev.space.bench;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What is measured and how often.
 *
 * @param n runs of each mode
 * @param phases also tell where the time goes
 * @param only the one mode to measure; empty: all
 * @param data directory of the platform that is measured
 */
record Options(
        String bench,
        int n,
        boolean json,
        boolean phases,
        String only,
        String template,
        String size,
        Path data,
        Path cache) {

    static final Map<String, Integer> RUNS_BY_BENCH =
            Map.of(
                    "create", 50,
                    "exec", 200,
                    "checkpoint", 50,
                    "fork", 10,
                    "resume", 20,
                    "suspend", 5,
                    "restore", 5,
                    "control-plane", 500,
                    "gateway", 300);

    private static final Set<String> NAMES = Set.of("n", "template", "size", "only");
    private static final String OPTIONS =
            "; there are --json, --n=N, --template=NAME, --size=SIZE, and with create --phases and"
                    + " --only=MODE";
    private static final int N_MAX = 100_000;

    /** Its sessions are all there at once, a slot each; the warm-up's may still be leaving. */
    static final int CONTROL_PLANE_N_MAX = FakePlatform.SLOTS - ControlPlaneBench.WARM_UP;

    static Options of(List<String> arguments, Map<String, String> env) {
        String bench = arguments.isEmpty() ? "" : arguments.getFirst();
        Integer runs = RUNS_BY_BENCH.get(bench);
        if (runs == null) {
            throw new IllegalArgumentException(
                    "no benchmark \"%s\", only %s"
                            .formatted(
                                    bench,
                                    String.join(", ", new TreeSet<>(RUNS_BY_BENCH.keySet()))));
        }
        boolean json = false;
        boolean phases = false;
        Map<String, String> values = new HashMap<>();
        for (String argument : arguments.subList(1, arguments.size())) {
            if (argument.equals("--json")) {
                json = true;
                continue;
            }
            if (argument.equals("--phases") && bench.equals("create")) {
                phases = true;
                continue;
            }
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(2, equals);
            if (equals < 0 || !argument.startsWith("--") || !NAMES.contains(name)) {
                throw new IllegalArgumentException("unknown option " + argument + OPTIONS);
            }
            values.put(name, argument.substring(equals + 1));
        }
        String only = values.getOrDefault("only", "");
        if (!only.isEmpty() && !(bench.equals("create") && CreateBench.MODES.contains(only))) {
            throw new IllegalArgumentException(
                    "--only goes with create and is one of " + CreateBench.MODES);
        }
        int most = bench.equals("control-plane") ? CONTROL_PLANE_N_MAX : N_MAX;
        int n = values.containsKey("n") ? number(String.valueOf(values.get("n")), most) : runs;
        return new Options(
                bench,
                n,
                json,
                phases,
                only,
                values.getOrDefault("template", "default"),
                values.getOrDefault("size", "small"),
                Path.of(env.getOrDefault("SPACE_DATA", "/var/lib/space")),
                Path.of(env.getOrDefault("SPACE_CACHE", "/var/cache/space")));
    }

    private static int number(String text, int most) {
        int n = text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : 0;
        if (n < 1 || n > most) {
            throw new IllegalArgumentException("--n must be from 1 to " + most);
        }
        return n;
    }

    /** The same measurement on another platform. */
    Options on(Path otherData) {
        return new Options(bench, n, json, phases, only, template, size, otherData, cache);
    }
}
