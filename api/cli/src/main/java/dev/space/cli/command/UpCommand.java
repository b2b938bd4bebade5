package dev.space.cli.command;

import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Ports;
import dev.space.cli.platform.VaultAccess;
import dev.space.cli.supervisor.PlatformState;
import dev.space.cli.supervisor.SupervisorHandle;
import dev.space.model.Limits;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        description = {
            "Starts and supervises every process of the platform, waits until all are ready,",
            "and resumes the sessions that `down` paused. Needs root."
        },
        footer = {
            "",
            "Next: ./space run -- CMD…, ./space create, ./space status; `./space down` stops it."
        })
public final class UpCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = {
                "Run N nodes side by side, 1 to 4 (default: space.nodes,",
                "else as the last time, else 1)."
            })
    @Nullable Integer nodes;

    @Spec CommandSpec spec;

    @Override
    public Integer call() {
        if (nodes != null && (nodes < 1 || nodes > Limits.NODES_ON_MACHINE_MAX)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--nodes takes 1 to " + Limits.NODES_ON_MACHINE_MAX + ", not " + nodes);
        }
        PlatformOptions.demandRoot("up");
        Platform platform = options.platform();
        new SupervisorHandle(platform, new Progress()).up(nodes);
        Ports ports = Ports.stored(platform).orElseThrow();
        String api = "http://127.0.0.1:" + ports.of("control");
        System.out.println("API          " + api + "/v1");
        System.out.println("API key      in " + platform.apiKey());
        System.out.println("API docs     " + api + "/docs");
        System.out.println("Temporal UI  http://127.0.0.1:" + ports.of("temporal-ui"));
        System.out.println("Next         ./space run -- CMD…   ./space create   ./space status");
        warnOfOldRelease(platform);
        warnOfVault(platform);
        return 0;
    }

    /** The platform runs without it; credentials that are in it cannot be used until it is well. */
    private static void warnOfVault(Platform platform) {
        VaultAccess.of(SpaceConfig.load(platform.config()))
                .map(VaultAccess::look)
                .filter(found -> !found.faults().isEmpty())
                .ifPresent(found -> {
                    System.err.println(
                            "space: the vault of credentials: "
                                    + String.join("; ", found.faults()));
                    System.err.println("space: next: " + found.mend());
                });
    }

    private static void warnOfOldRelease(Platform platform) {
        PlatformState.live(platform)
                .filter(s -> !s.release().equals(platform.release().toString()))
                .ifPresent(s ->
                        System.err.println(
                                "space: the platform still runs an older build; "
                                        + "`./space down && ./space up` starts this one"));
    }
}
