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

    private static final Duration GAP_SEEN_MAX = Duration.ofSeconds(5);

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
            int seen = gaps(session.id(), watcher).size();
            for (int i = 0; i < options.n(); i++) {
                long began = System.nanoTime();
                var _ = target.client().command(session.id(), "checkpoint");
                whole.add(Duration.ofNanos(System.nanoTime() - began));
                List<String> gaps = gapsAfter(session.id(), watcher, seen);
                times.add(longest(gaps.subList(seen, gaps.size())));
                seen = gaps.size();
                floorTimes.add(vm.checkpoint());
            }
        } finally {
            target.destroy(session.id());
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

    /** All gaps, once there are more than before: the last one is written after the pause. */
    private List<String> gapsAfter(String session, String process, int before) {
        long deadline = System.nanoTime() + GAP_SEEN_MAX.toNanos();
        while (true) {
            List<String> gaps = gaps(session, process);
            if (gaps.size() > before) {
                return gaps;
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the guest saw no gap during a checkpoint");
            }
        }
    }

    /** Gaps between two checkpoints are the guest's own scheduling; the pause is the longest. */
    private static Duration longest(List<String> gaps) {
        double longest =
                gaps.stream()
                        .mapToDouble(line -> Double.parseDouble(line.split(" ", -1)[1]))
                        .max()
                        .orElseThrow();
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
