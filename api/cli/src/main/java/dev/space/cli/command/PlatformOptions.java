package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which platform of this machine a command means. */
final class PlatformOptions {

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "The platform's directory (default: SPACE_DATA, else /var/lib/space).")
    @Nullable Path data;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Configuration (default: SPACE_CONFIG, else /etc/space/space.yaml).")
    @Nullable Path config;

    Platform platform() {
        return Platform.of(System.getenv(), data, config);
    }

    /** Users, mounts and network namespaces are root's to make. */
    static void demandRoot(String command) {
        if (!isRoot()) {
            throw new PlatformException(
                    "`space "
                            + command
                            + "` needs root: it makes system users, mounts and network namespaces."
                            + " Run it with sudo, or set SPACE_API_URL and SPACE_API_KEY to use a"
                            + " platform that runs already.");
        }
    }

    static boolean isRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        } catch (IOException e) {
            return false;
        }
    }
}
