package dev.space.cli.platform;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** What /proc says of one process. A pid alone is no identity: its start time goes with it. */
public record Proc(long pid, long startTicks) {

    private static final int FIELD_STATE = 0;
    private static final int FIELD_START = 19;

    /** The living process of that pid now. */
    public static OptionalLong startTicks(long pid) {
        try {
            String stat =
                    Files.readString(
                            Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            // The command's name is in brackets and may hold anything: count from behind it.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            boolean dead = fields[FIELD_STATE].equals("Z") || fields[FIELD_STATE].equals("X");
            return dead
                    ? OptionalLong.empty()
                    : OptionalLong.of(Long.parseLong(fields[FIELD_START]));
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** True while this very process lives (not another one that got its pid, not a zombie). */
    public boolean alive() {
        OptionalLong now = startTicks(pid);
        return now.isPresent() && now.getAsLong() == startTicks;
    }

    public void signal(String name) {
        if (alive()) {
            var _ =
                    Command.run(
                            java.time.Duration.ofSeconds(5),
                            java.util.List.of("kill", "-" + name, "--", Long.toString(pid)));
        }
    }
}
