package dev.space.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.bench.floor.BareVm;
import dev.space.bench.floor.ColdStart;
import dev.space.client.Fork;
import dev.space.client.ForkSession;
import dev.space.model.Size;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * From the API call that forks a running session until each of five children has answered a
 * command. The floor is as many bare restores of the template's start snapshot at once, to the same
 * output. Beside it: which share of its memory's size an idle child has for itself on the disk.
 */
final class ForkBench {

    private static final int CHILDREN = 5;
    private static final int WARM_UP = 1;
    private static final String[] COMMAND = {"/bin/echo", "out"};
    private static final String OUTPUT = "out\n";

    private final Options options;
    private final Target target;
    private double exclusiveShare;

    ForkBench(Options options, Target target) {
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
            String source = target.create().id();
            try {
                product.measure(WARM_UP, 1, new Samples(), _ -> fork(source));
                floor.measure(WARM_UP, 1, new Samples(), _ -> restore(cold));
                for (int done = 0; done < options.n(); done++) {
                    product.measure(1, 1, times, _ -> fork(source));
                    floor.measure(1, 1, floorTimes, _ -> restore(cold));
                }
            } finally {
                target.destroy(source);
            }
        }
        product.tell("fork");
        floor.tell("the floor of fork");
        return List.of(
                new BenchResult(
                        "fork",
                        CHILDREN + " children",
                        options.n(),
                        times,
                        "cold x " + CHILDREN,
                        floorTimes,
                        Map.of("exclusive_share", exclusiveShare)));
    }

    private Duration fork(String source) throws Exception {
        long began = System.nanoTime();
        Fork fork = target.client().fork(source, new ForkSession(CHILDREN, null, null, null));
        List<String> children = fork.children().stream().map(Fork.Child::id).toList();
        try {
            atOnce(children, child -> demand(target.exec(child, COMMAND)));
            Duration time = Duration.ofNanos(System.nanoTime() - began);
            for (String child : children) {
                exclusiveShare = Math.max(exclusiveShare, exclusiveShareOf(child));
            }
            return time;
        } finally {
            children.forEach(target.client()::destroy);
        }
    }

    private double exclusiveShareOf(String child) {
        JsonNode storage = target.client().get("/v1/sessions/" + child + "/storage");
        long memory = (long) Size.fromWireName(options.size()).orElseThrow().memoryMiB() << 20;
        return storage.path("exclusiveBytes").asDouble(Double.NaN) / memory;
    }

    private static Duration restore(ColdStart cold) throws Exception {
        List<ColdStart.Place> places = new ArrayList<>();
        for (int i = 0; i < CHILDREN; i++) {
            places.add(cold.place());
        }
        long began = System.nanoTime();
        List<Long> ends = new ArrayList<>();
        atOnce(
                places,
                place -> {
                    try (BareVm vm = cold.restore(place)) {
                        demand(vm.run(COMMAND));
                        synchronized (ends) {
                            ends.add(System.nanoTime());
                        }
                    }
                });
        return Duration.ofNanos(
                ends.stream().mapToLong(Long::longValue).max().orElseThrow() - began);
    }

    /** One of them. */
    private interface Each<T> {
        void on(T one) throws Exception;
    }

    /** The first failure, when all have ended. */
    private static <T> void atOnce(List<T> all, Each<T> each) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (T one : all) {
                running.add(
                        threads.submit(() -> {
                            each.on(one);
                            return true;
                        }));
            }
        }
        for (Future<?> run : running) {
            try {
                run.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            }
        }
    }

    private static void demand(String output) {
        if (!output.equals(OUTPUT)) {
            throw new IllegalStateException("the command printed \"" + output + "\"");
        }
    }
}
