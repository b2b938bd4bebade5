package dev.space.node.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The machine's clock that only goes forward, through restarts of this process and sleep. */
final class Uptime {

    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    private Uptime() {}

    /** Milliseconds since the boot, to a hundredth of a second. */
    static long millis() {
        String[] seconds = read(UPTIME).split("[. ]", 3);
        return TimeUnit.SECONDS.toMillis(Long.parseLong(seconds[0]))
                + 10 * Long.parseLong(seconds[1]);
    }

    /** Another one after each boot. */
    static String boot() {
        return read(BOOT).strip();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
