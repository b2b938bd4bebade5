package dev.space.manager;

import dev.space.privileged.RefusalCode;
import dev.space.privileged.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Calls space-jail for one start and understands its answer. */
final class JailLauncher {

    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    private static final int BAD_FILES = 3;
    private static final int NO_BUNDLE = 4;

    private final ManagerConfig config;
    private final Worker worker;
    private final ExitRecords records;

    JailLauncher(ManagerConfig config, Worker worker, ExitRecords records) {
        this.config = config;
        this.worker = worker;
        this.records = records;
    }

    /** The pid of the VMM, which was executed. */
    int start(Request.StartVmm request, List<Path> cgroups) throws IOException, Refusal {
        Commands.Result result = Commands.run(TIMEOUT, "", command(request, cgroups));
        if (result.ok()) {
            return Integer.parseInt(result.output().strip());
        }
        String detail = result.error().strip();
        throw switch (result.exit()) {
            case BAD_FILES -> new Refusal(RefusalCode.BAD_FILES, detail);
            case NO_BUNDLE -> new Refusal(RefusalCode.NO_BUNDLE, detail);
            default -> new Refusal(RefusalCode.FAILED, detail);
        };
    }

    private List<String> command(Request.StartVmm r, List<Path> cgroups) {
        List<String> command = new ArrayList<>();
        command.add(config.jail().toString());
        option(command, "--bundle", config.cacheDir().resolve("bundles").resolve(r.bundleDigest()));
        option(command, "--base", config.dataDir());
        option(command, "--live", r.directory().relativePath());
        option(command, "--record", records.record(r.slot(), r.startId()));
        option(command, "--log", records.log(r.slot(), r.startId()));
        option(command, "--netns", SlotNetwork.path(config.namespace(r.slot())));
        cgroups.forEach(c -> option(command, "--cgroup", c));
        option(command, "--slot-id", config.uid(r.slot()));
        option(command, "--worker-uid", worker.uid());
        option(command, "--worker-gid", worker.gid());
        option(command, "--memory-bytes", (long) r.memoryMiB() << 20);
        option(command, "--accelerator", config.accelerator());
        option(command, "--label", r.directory().name());
        command.add("--");
        command.addAll(r.arguments());
        return command;
    }

    private static void option(List<String> command, String name, Object value) {
        command.add(name);
        command.add(value.toString());
    }
}
