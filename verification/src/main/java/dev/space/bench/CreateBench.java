package dev.space.bench;

import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import dev.space.client.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * From the API call that creates a session until its first command's output is there; one after the
 * other, and ten at once. The floor is the bare restore of the same start snapshot to the same
 * output, as many at once, without API, workflow, database, node or jail.
 */
final class CreateBench {

    private static final int AT_ONCE = 10;
    private static final int WARM_UP = 2;
    private static final String[] COMMAND = {"/bin/echo", "out"};
    private static final String OUTPUT = "out\n";

    private final Options options;
    private final Target target;

    CreateBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    List<BenchResult> run() throws Exception {
        List<BenchResult> results = new ArrayList<>();
        try (ColdStart cold = target.coldStart()) {
            results.add(mode("sequential", 1, cold));
            results.add(mode("parallel-" + AT_ONCE, AT_ONCE, cold));
        }
        return results;
    }

    /** Product and floor take turns, so that what the machine does meanwhile hits both alike. */
    private BenchResult mode(String name, int atOnce, ColdStart cold) throws InterruptedException {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Parallel product = new Parallel();
        Parallel floor = new Parallel();
        product.measure(WARM_UP, 1, new Samples(), _ -> create());
        floor.measure(WARM_UP, 1, new Samples(), _ -> restore(cold));
        int turn = Math.max(atOnce, 5);
        for (int done = 0; done < options.n(); done += turn) {
            int now = Math.min(turn, options.n() - done);
            product.measure(now, atOnce, times, _ -> create());
            floor.measure(now, atOnce, floorTimes, _ -> restore(cold));
        }
        product.tell("create, " + name);
        floor.tell("the floor, " + name);
        return new BenchResult("create", name, options.n(), times, "cold", floorTimes);
    }

    private Duration create() {
        long began = System.nanoTime();
        Session session = target.create();
        try {
            demand(target.exec(session.id(), COMMAND));
            return Duration.ofNanos(System.nanoTime() - began);
        } finally {
            target.client().destroy(session.id());
        }
    }

    private static Duration restore(ColdStart cold) throws Exception {
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
