package dev.space.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import dev.space.client.RunProcess;
import dev.space.client.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How long a checkpoint keeps the workload from running, as the guest sees it: a process in the
 * sandbox looks at the wall clock all the time and prints each gap between two looks. The guest's
 * clock is set before its workload goes on, so that the gap is the whole pause: freeze, stop, save,
 * clone, go on, thaw. The floor is the bare stop, save, clone and go on of a bare VM.
 */
final class CheckpointBench {

    private static final int WARM_UP = 3;

    /** Guest and host clock agree this well after a handshake. */
    private static final long CLOCK_SLACK_MILLIS = 20;

    /** What the guest's own scheduling does not reach; printed with each gap's begin. */
    private static final String WATCHER =
            """
            import sys, time
            floor, last = float(sys.argv[1]), time.time()
            while True:
                now = time.time()
                if now - last > floor:
                    print("%.6f %.6f" % (last, now - last), flush=True)
                    now = time.time()
                last = now
            """;

    private static final String GAP_FLOOR_S = "0.002";

    private final Options options;
    private final Target target;

    CheckpointBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    List<BenchResult> run() throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Samples whole = new Samples();
        Session session = target.create();
        try (ColdStart cold = target.coldStart();
                BareVm vm = cold.restore(cold.place())) {
            String watcher = watch(session.id());
            for (int i = 0; i < WARM_UP; i++) {
                var _ = target.client().command(session.id(), "checkpoint");
                var _ = vm.checkpoint();
            }
            for (int i = 0; i < options.n(); i++) {
                long from = System.currentTimeMillis();
                long began = System.nanoTime();
                var _ = target.client().command(session.id(), "checkpoint");
                whole.add(Duration.ofNanos(System.nanoTime() - began));
                long to = System.currentTimeMillis();
                times.add(longestGap(session.id(), watcher, from, to));
                floorTimes.add(vm.checkpoint());
            }
        } finally {
            target.client().destroy(session.id());
        }
        return List.of(
                new BenchResult(
                        "checkpoint",
                        "little-dirty",
                        options.n(),
                        times,
                        "bare stop, save, clone, go on",
                        floorTimes,
                        Map.of(
                                "whole_call_p50_ms", whole.millis(50),
                                "whole_call_p90_ms", whole.millis(90))));
    }

    private String watch(String session) {
        JsonNode started =
                target.client()
                        .startProcess(
                                session,
                                RunProcess.of(
                                        List.of("python3", "-S", "-c", WATCHER, GAP_FLOOR_S)));
        String id = started.path("processId").asText(started.path("id").asText());
        if (id.isEmpty()) {
            throw new IllegalStateException("no process id in " + started);
        }
        return id;
    }

    /** The longest gap that began while the checkpoint was called; zero when none was seen. */
    private Duration longestGap(String session, String process, long fromMillis, long toMillis) {
        double longest = 0;
        for (String line : gaps(session, process)) {
            String[] fields = line.split(" ", -1);
            double at = Double.parseDouble(fields[0]) * 1000;
            if (at >= fromMillis - CLOCK_SLACK_MILLIS && at <= toMillis + CLOCK_SLACK_MILLIS) {
                longest = Math.max(longest, Double.parseDouble(fields[1]));
            }
        }
        if (longest == 0) {
            throw new IllegalStateException("the guest saw no gap during a checkpoint");
        }
        return Duration.ofNanos((long) (longest * 1e9));
    }

    private List<String> gaps(String session, String process) {
        List<String> lines = new ArrayList<>();
        String output = target.outputNow(session, process);
        int end = output.lastIndexOf('\n');
        if (end > 0) {
            lines.addAll(List.of(output.substring(0, end).split("\n", -1)));
        }
        return lines;
    }
}
