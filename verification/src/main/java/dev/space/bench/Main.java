package dev.space.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/** Started by {@code ./space bench NAME}, which has brought the platform up. */
public final class Main {

    private static final int USAGE = 2;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Options options;
        try {
            options = Options.of(List.of(arguments), System.getenv());
        } catch (IllegalArgumentException e) {
            System.err.println("space: " + e.getMessage());
            System.exit(USAGE);
            return;
        }
        // Whatever libraries say goes elsewhere: standard output is for figures.
        PrintStream figures = System.out;
        System.setOut(System.err);
        boolean whole = true;
        try {
            for (BenchResult result : run(options)) {
                figures.println(options.json() ? result.json() : result.text());
                whole &= result.times().count() == result.n();
            }
        } catch (IOException e) {
            System.err.println("space: nothing was measured: " + e.getMessage());
            System.exit(1);
        }
        // A run that lost a part of its work is not a measurement; the figures above say how much.
        System.exit(whole ? 0 : 1);
    }

    private static List<BenchResult> run(Options options) throws Exception {
        if (options.bench().equals("gateway")) {
            return new GatewayBench(options).run();
        }
        if (options.bench().equals("control-plane")) {
            try (FakePlatform fake = FakePlatform.start();
                    Target target = Target.open(options.on(fake.data()))) {
                return new ControlPlaneBench(options, target).run();
            }
        }
        try (Target target = Target.open(options)) {
            return switch (options.bench()) {
                case "create" -> new CreateBench(options, target).run();
                case "exec" -> new ExecBench(options, target).run();
                case "fork" -> new ForkBench(options, target).run();
                case "resume" -> new ResumeBench(options, target).run();
                case "suspend", "restore" -> new StoreBench(options, target).run();
                case "checkpoint" -> new CheckpointBench(options, target).run();
                default -> throw new IllegalStateException("no code for " + options.bench());
            };
        }
    }
}
