package dev.space.node.engine.qemu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The rate of the host's time-stamp counter, which the guest cannot measure by itself. */
final class HostClock {

    /** Only where the host does not tell; the guest corrects it against its other clocks. */
    private static final long KHZ_FALLBACK = 2_600_000;

    private HostClock() {}

    static long tscKhz() {
        try {
            Path exact = Path.of("/sys/devices/system/cpu/cpu0/tsc_freq_khz");
            if (Files.exists(exact)) {
                return Long.parseLong(Files.readString(exact).strip());
            }
            for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
                if (line.startsWith("cpu MHz")) {
                    String value = line.substring(line.indexOf(':') + 1).strip();
                    return Math.round(Double.parseDouble(value) * 1000);
                }
            }
        } catch (IOException | NumberFormatException e) {
            return KHZ_FALLBACK;
        }
        return KHZ_FALLBACK;
    }
}
