package dev.space.cli.command;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.space.cli.platform.Platform;
import dev.space.cli.supervisor.Compilation;
import dev.space.cli.supervisor.SupervisorHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measures the platform against floors of the same run; docs/benchmarks.md says how.",
            "NAME: create, exec, checkpoint, fork, resume, suspend, restore, control-plane,",
            "gateway.",
            "--json: one object a line."
        })
public final class BenchCommand implements Callable<Integer> {

    /** Known here too, so that a wrong one is refused before a platform is started for it. */
    public static final Set<String> NAMES =
            Set.of(
                    "create",
                    "exec",
                    "checkpoint",
                    "fork",
                    "resume",
                    "suspend",
                    "restore",
                    "control-plane",
                    "gateway");

    /** These need no running platform: they start what they measure themselves. */
    private static final Set<String> ON_THEIR_OWN = Set.of("control-plane", "gateway");

    private static final int END_MAX_SECONDS = 60;

    @Spec CommandSpec spec;
    @Mixin PlatformOptions options;

    @Parameters(arity = "1", paramLabel = "NAME", description = "What to measure.")
    String name = "";

    /** The benchmark's own options. */
    @Unmatched List<String> rest = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        if (!NAMES.contains(name)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "there is no benchmark \"%s\"; there are %s"
                            .formatted(name, String.join(", ", new TreeSet<>(NAMES))));
        }
        PlatformOptions.demandRoot("bench");
        Platform platform = options.platform();
        if (!ON_THEIR_OWN.contains(name)) {
            new SupervisorHandle(platform, new Progress()).up();
        }
        String home = platform.release().resolve("bench").toString();
        List<String> argv = new ArrayList<>(List.of(platform.jdk().resolve("bin/java").toString()));
        // A client of seconds: what the second compiler did for it would be a core's work.
        argv.addAll(Compilation.FIRST_ONLY);
        argv.addAll(
                List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        home + "/*:" + home + "/lib/*",
                        "dev.space.bench.Main",
                        name));
        argv.addAll(rest);
        ProcessBuilder bench = new ProcessBuilder(argv).inheritIO();
        bench.environment().put("SPACE_DATA", platform.data().toString());
        bench.environment().put("SPACE_GATEWAY_JVM", String.join(" ", Compilation.GATEWAY));
        Process running = bench.start();
        // It destroys its sessions when it is told to end, and it is told when this one is.
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> {
                                    running.destroy();
                                    running.onExit().orTimeout(END_MAX_SECONDS, SECONDS).join();
                                },
                                "end-bench"));
        return running.waitFor();
    }
}
