package dev.space.bench;

import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import dev.space.client.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * From the API call that creates a session until its first command's output is there: each when the
 * pool is full and at rest, each as soon as one hot VM waits while the pool is being refilled, one
 * after the other, ten at once, and in bursts when the pool is full. The floor is the bare work
 * below: of a hot VM to go on, else the restore of the same start snapshot, each to the same
 * output, as many at once, without API, workflow, database, node or jail.
 */
final class CreateBench {

    private static final int AT_ONCE = 10;
    private static final List<Integer> BURSTS = List.of(8, 32);
    private static final String HOT = "hot";
    private static final String REFILLING = "refilling";
    private static final String SEQUENTIAL = "sequential";
    private static final String PARALLEL = "parallel-" + AT_ONCE;
    private static final String BURST = "burst-";

    /** What {@code --only} may name. */
    static final List<String> MODES =
            List.of(
                    HOT,
                    REFILLING,
                    SEQUENTIAL,
                    PARALLEL,
                    BURST + BURSTS.get(0),
                    BURST + BURSTS.get(1));

    private static final int TURN = 5;
    private static final int WARM_UP = 2;
    private static final int HOT_WARM_UP = 10;
    private static final String[] COMMAND = {"/bin/echo", "out"};
    private static final String[] BEFORE = {"/bin/sh", "-c", "true"};
    private static final String OUTPUT = "out\n";

    private final Options options;
    private final Target target;
    private final Samples created = new Samples();

    CreateBench(Options options, Target target) {
        this.options = options;
        this.target = target;
    }

    List<BenchResult> run() throws Exception {
        List<BenchResult> results = new ArrayList<>();
        int pool = target.poolSize();
        try (ColdStart cold = target.coldStart()) {
            if (pool > 0 && wanted(HOT)) {
                results.add(hot(HOT, target::awaitFullPool, cold));
            }
            if (pool > 0 && wanted(REFILLING)) {
                results.add(hot(REFILLING, target::awaitHot, cold));
            }
            if (wanted(SEQUENTIAL)) {
                results.add(mode(SEQUENTIAL, 1, cold));
            }
            if (wanted(PARALLEL)) {
                results.add(mode(PARALLEL, AT_ONCE, cold));
            }
            for (int burst : BURSTS) {
                if (pool > 0 && wanted(BURST + burst)) {
                    results.add(burst(burst, pool, cold));
                }
            }
        }
        return results;
    }

    private boolean wanted(String mode) {
        return options.only().isEmpty() || options.only().equals(mode);
    }

    /** What is waited for before each creation. */
    private interface Wait {
        void await() throws Exception;
    }

    /** Each creation finds a hot VM. */
    private BenchResult hot(String mode, Wait ready, ColdStart cold) throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Parallel product = new Parallel();
        Parallel floor = new Parallel();
        for (int i = 0; i < HOT_WARM_UP; i++) {
            hotTurn(1, ready, product, new Samples());
        }
        floor.measure(WARM_UP, 1, new Samples(), _ -> goOn(cold));
        created.clear();
        Phases before = Phases.now(target.port("control"));
        for (int done = 0; done < options.n(); done += TURN) {
            int now = Math.min(TURN, options.n() - done);
            hotTurn(now, ready, product, times);
            floor.measure(now, 1, floorTimes, _ -> goOn(cold));
        }
        Phases after = Phases.now(target.port("control"));
        product.tell("create, " + mode);
        floor.tell("the floor, " + mode);
        return new BenchResult(
                "create",
                mode,
                options.n(),
                times,
                "hot",
                floorTimes,
                options.phases() ? phases(after.since(before)) : Map.of());
    }

    private void hotTurn(int n, Wait ready, Parallel product, Samples times) throws Exception {
        for (int i = 0; i < n; i++) {
            ready.await();
            product.measure(1, 1, times, _ -> create());
        }
    }

    private Map<String, Double> phases(Map<String, Double> means) {
        Map<String, Double> all = new LinkedHashMap<>();
        all.put("client.created_p50_ms", created.millis(50));
        all.putAll(means);
        return all;
    }

    /** As many at once as the burst has, whenever the pool is full. */
    private BenchResult burst(int size, int pool, ColdStart cold) throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Parallel product = new Parallel();
        Parallel floor = new Parallel();
        int bursts = Math.max(1, options.n() / size);
        for (int i = 0; i < bursts; i++) {
            target.awaitFullPool();
            product.measure(size, size, times, _ -> create());
            floor.measure(size, size, floorTimes, _ -> restore(cold));
        }
        String mode = BURST + size;
        product.tell("create, " + mode);
        floor.tell("the floor, " + mode);
        return new BenchResult(
                "create",
                mode,
                bursts * size,
                times,
                "cold",
                floorTimes,
                Map.of("pool", (double) pool));
    }

    /** Product and floor take turns, so that what the machine does meanwhile hits both alike. */
    private BenchResult mode(String name, int atOnce, ColdStart cold) throws Exception {
        Samples times = new Samples();
        Samples floorTimes = new Samples();
        Parallel product = new Parallel();
        Parallel floor = new Parallel();
        product.measure(WARM_UP, 1, new Samples(), _ -> create());
        floor.measure(WARM_UP, 1, new Samples(), _ -> restore(cold));
        created.clear();
        Phases before = Phases.now(target.port("control"));
        int turn = Math.max(atOnce, TURN);
        for (int done = 0; done < options.n(); done += turn) {
            int now = Math.min(turn, options.n() - done);
            product.measure(now, atOnce, times, _ -> create());
            floor.measure(now, atOnce, floorTimes, _ -> restore(cold));
        }
        Phases after = Phases.now(target.port("control"));
        product.tell("create, " + name);
        floor.tell("the floor, " + name);
        return new BenchResult(
                "create",
                name,
                options.n(),
                times,
                "cold",
                floorTimes,
                options.phases() ? phases(after.since(before)) : Map.of());
    }

    private Duration create() {
        long began = System.nanoTime();
        Session session = target.create();
        created.add(Duration.ofNanos(System.nanoTime() - began));
        try {
            demand(target.exec(session.id(), COMMAND));
            return Duration.ofNanos(System.nanoTime() - began);
        } finally {
            target.destroy(session.id());
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

    private static Duration goOn(ColdStart cold) throws Exception {
        try (BareVm vm = cold.restore(cold.place())) {
            vm.makeHot(BEFORE);
            long began = System.nanoTime();
            vm.goOn();
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
