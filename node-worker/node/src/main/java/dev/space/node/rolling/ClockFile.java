package dev.space.node.rolling;

import dev.space.node.volumes.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the clock was when it was last believed, so that a node that starts just after a jump knows
 * of it.
 */
public interface ClockFile {

    /** Nothing is kept: the first look is believed. */
    ClockFile NONE =
            new ClockFile() {
                @Override
                public Optional<Seen> read() {
                    return Optional.empty();
                }

                @Override
                public void write(Seen seen) {}
            };

    /**
     * One look.
     *
     * @param boot which boot of the machine it was in
     * @param unixMillis the time of day
     * @param sinceBoot milliseconds of the machine's clock that only goes forward
     */
    record Seen(String boot, long unixMillis, long sinceBoot) {

        /** How far the time of day is from what it should be then; empty: it cannot be told. */
        Optional<Long> jump(Seen now) {
            return boot.equals(now.boot)
                    ? Optional.of(now.unixMillis - unixMillis - (now.sinceBoot - sinceBoot))
                    : Optional.empty();
        }
    }

    /** The last look that was written; empty when there is none that can be read. */
    Optional<Seen> read();

    /** Best effort: one that cannot be written is told, and the older one stays. */
    void write(Seen seen);

    /** In this file. */
    static ClockFile in(Path file) {
        return new OnDisk(file);
    }

    /** One line: boot, time of day, time since the boot. */
    record OnDisk(Path file) implements ClockFile {

        private static final Logger LOG = LoggerFactory.getLogger(ClockFile.class);
        private static final Pattern LINE =
                Pattern.compile("([0-9a-f-]{1,64}) (\\d{1,18}) (\\d{1,18})\n");

        @Override
        public Optional<Seen> read() {
            try {
                Matcher line = LINE.matcher(Files.readString(file, StandardCharsets.US_ASCII));
                return line.matches()
                        ? Optional.of(
                                new Seen(
                                        line.group(1),
                                        Long.parseLong(line.group(2)),
                                        Long.parseLong(line.group(3))))
                        : Optional.empty();
            } catch (IOException e) {
                return Optional.empty();
            }
        }

        @Override
        public void write(Seen seen) {
            String line = "%s %d %d\n".formatted(seen.boot(), seen.unixMillis(), seen.sinceBoot());
            try {
                DurableFiles.replace(file, line.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                LOG.warn("the time is not kept in {}: {}", file, e.toString());
            }
        }
    }
}
