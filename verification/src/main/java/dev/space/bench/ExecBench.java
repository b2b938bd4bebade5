package dev.space.bench;

import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import dev.space.client.Session;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * {@code true} in a running session through the API. The floor is the same command directly over
 * the private channel of a bare VM from the same start snapshot: a session's own channel belongs to
 * its node.
 */
final class ExecBench {

    /** Both sides are servers that have run for long before: their code is compiled. */
    private static final int WARM_UP = 150;

    private static final int TURN = 20;
    private static final String COMMAND = "/bin/true";

    private final Options options;
    private final Target target;

    ExecBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    List<BenchResult> run() throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Session session = target.create();
        try (ColdStart cold = target.coldStart();
                BareVm vm = cold.restore(cold.place())) {
            Parallel product = new Parallel();
            Parallel floor = new Parallel();
            Parallel.Run exec = _ -> exec(session.id());
            Parallel.Run raw = _ -> raw(vm);
            product.measure(WARM_UP, 1, new Samples(), exec);
            floor.measure(WARM_UP, 1, new Samples(), raw);
            for (int done = 0; done < options.n(); done += TURN) {
                int now = Math.min(TURN, options.n() - done);
                product.measure(now, 1, times, exec);
                floor.measure(now, 1, floorTimes, raw);
            }
            product.tell("exec");
            floor.tell("the floor");
        } finally {
            target.destroy(session.id());
        }
        double above = times.millis(50) - floorTimes.millis(50);
        return List.of(
                new BenchResult(
                        "exec",
                        "sequential",
                        options.n(),
                        times,
                        "raw channel",
                        floorTimes,
                        Map.of("above_floor_p50_ms", above)));
    }

    private Duration exec(String session) {
        long began = System.nanoTime();
        target.exec(session, COMMAND);
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static Duration raw(BareVm vm) {
        long began = System.nanoTime();
        var _ = vm.run(COMMAND);
        return Duration.ofNanos(System.nanoTime() - began);
    }
}
