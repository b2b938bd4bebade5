package dev.space.cli.supervisor;

import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Proc;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the supervisor tells of itself in {@code run/supervisor.json}; true only while the process
 * that it names lives.
 *
 * @param progress the steps so far, a line each
 */
public record PlatformState(
        long pid,
        long startTicks,
        Phase phase,
        String detail,
        String release,
        List<ServiceState> services,
        List<String> progress) {

    /** Where the platform as a whole stands. */
    public enum Phase {
        STARTING,
        READY,
        FAILED,
        STOPPING,
        STOPPED
    }

    public static Path file(Platform platform) {
        return platform.run().resolve("supervisor.json");
    }

    /** The state that a living supervisor wrote. */
    public static Optional<PlatformState> live(Platform platform) {
        return last(platform).filter(s -> new Proc(s.pid(), s.startTicks()).alive());
    }

    /** The newest state, whether or not its supervisor lives. */
    public static Optional<PlatformState> last(Platform platform) {
        return Json.read(file(platform), PlatformState.class);
    }
}
