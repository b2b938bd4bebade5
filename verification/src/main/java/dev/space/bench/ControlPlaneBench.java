package dev.space.bench;

import dev.space.bench.floor.TemporalFloor;
import dev.space.client.Session;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Sessions created through the API on a platform whose engine is fake, so that nothing but the
 * control plane works: authentication, rows, Update-With-Start, the node's answer. The floor is a
 * bare Update-With-Start with one local activity on the same Temporal server, measured half before
 * and half after, because the server gets slower with its history.
 */
final class ControlPlaneBench {

    static final int AT_ONCE = 50;
    static final int WARM_UP = 100;
    private static final String NAMESPACE = "default";

    private final Options options;
    private final Target target;

    ControlPlaneBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    List<BenchResult> run() throws InterruptedException {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Duration took;
        Duration floorTook;
        try (TemporalFloor floor =
                TemporalFloor.start("127.0.0.1:" + target.port("temporal"), NAMESPACE)) {
            int half = Math.max(1, options.n() / 2);
            Parallel bare = new Parallel();
            bare.measure(WARM_UP, AT_ONCE, new Samples(), floor::updateWithStart);
            floorTook = bare.measure(half, AT_ONCE, floorTimes, floor::updateWithStart);
            took = creations(times);
            floorTook =
                    floorTook.plus(bare.measure(half, AT_ONCE, floorTimes, floor::updateWithStart));
            bare.tell("the floor");
        }
        double perSecond = times.count() / seconds(took);
        double floorPerSecond = floorTimes.count() / seconds(floorTook);
        return List.of(
                new BenchResult(
                        "control-plane",
                        "parallel-" + AT_ONCE,
                        options.n(),
                        times,
                        "bare Update-With-Start to local activity",
                        floorTimes,
                        Map.of(
                                "per_s", perSecond,
                                "floor_per_s", floorPerSecond,
                                "ratio_per_s", perSecond / floorPerSecond)));
    }

    private Duration creations(Samples times) throws InterruptedException {
        Queue<String> made = new ConcurrentLinkedQueue<>();
        Parallel creations = new Parallel();
        Parallel.Run create =
                _ -> {
                    long began = System.nanoTime();
                    Session session = target.create();
                    Duration took = Duration.ofNanos(System.nanoTime() - began);
                    made.add(session.id());
                    return took;
                };
        creations.measure(WARM_UP, AT_ONCE, new Samples(), create);
        destroyAll(made);
        Duration took = creations.measure(options.n(), AT_ONCE, times, create);
        creations.tell("create");
        destroyAll(made);
        return took;
    }

    private void destroyAll(Queue<String> sessions) throws InterruptedException {
        Parallel destroys = new Parallel();
        destroys.measure(
                sessions.size(),
                AT_ONCE,
                new Samples(),
                _ -> {
                    String session = sessions.poll();
                    if (session != null) {
                        target.destroy(session);
                    }
                    return Duration.ZERO;
                });
        destroys.tell("destroy");
    }

    private static double seconds(Duration took) {
        return took.toNanos() / 1e9;
    }
}
