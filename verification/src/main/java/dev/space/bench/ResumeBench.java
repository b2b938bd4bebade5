package dev.space.bench;

import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import java.time.Duration;
import java.util.List;

/**
 * From the API call that resumes a paused session, on the node where it was paused, until its first
 * command's output. The floor is a bare restore of the template's start snapshot to the same
 * output.
 */
final class ResumeBench {

    private static final int WARM_UP = 2;
    private static final String[] COMMAND = {"/bin/echo", "out"};
    private static final String OUTPUT = "out\n";

    private final Options options;
    private final Target target;

    ResumeBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    /** Product and floor take turns, so that what the machine does meanwhile hits both alike. */
    List<BenchResult> run() throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Parallel product = new Parallel();
        Parallel floor = new Parallel();
        try (ColdStart cold = target.coldStart()) {
            String session = target.create().id();
            try {
                product.measure(WARM_UP, 1, new Samples(), _ -> resume(session));
                floor.measure(WARM_UP, 1, new Samples(), _ -> restore(cold));
                for (int done = 0; done < options.n(); done++) {
                    product.measure(1, 1, times, _ -> resume(session));
                    floor.measure(1, 1, floorTimes, _ -> restore(cold));
                }
            } finally {
                target.destroy(session);
            }
        }
        product.tell("resume");
        floor.tell("the floor of resume");
        return List.of(
                new BenchResult("resume", "same node", options.n(), times, "cold", floorTimes));
    }

    private Duration resume(String session) {
        var _ = target.client().command(session, "pause");
        long began = System.nanoTime();
        var _ = target.client().command(session, "resume");
        demand(target.exec(session, COMMAND));
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** A bare restore until the first command's output. */
    static Duration restore(ColdStart cold) throws Exception {
        ColdStart.Place place = cold.place();
        long began = System.nanoTime();
        try (BareVm vm = cold.restore(place)) {
            demand(vm.run(COMMAND));
            return Duration.ofNanos(System.nanoTime() - began);
        }
    }

    private static void demand(String output) {
        if (!output.equals(OUTPUT)) {
            throw new IllegalStateException("the command printed \"" + output + "\"");
        }
    }
}
