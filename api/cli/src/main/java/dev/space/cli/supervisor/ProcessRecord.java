package dev.space.cli.supervisor;

import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Proc;
import java.nio.file.Path;
import java.util.Optional;

/** {@code run/<service>.json}: enough to find a service's process again after a supervisor died. */
public record ProcessRecord(String name, long pid, long startTicks, String startedAt) {

    static Path file(Platform platform, String name) {
        return platform.run().resolve("service-" + name + ".json");
    }

    static void write(Platform platform, ProcessRecord entry) {
        Json.write(file(platform, entry.name()), entry);
    }

    /** The process of that service, if it still lives. */
    public static Optional<ProcessRecord> live(Platform platform, String name) {
        return Json.read(file(platform, name), ProcessRecord.class).filter(r -> r.proc().alive());
    }

    Proc proc() {
        return new Proc(pid, startTicks);
    }
}
