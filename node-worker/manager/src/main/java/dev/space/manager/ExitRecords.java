package dev.space.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The records that space-jail's parent processes write: {@code <slot>-<start id>}, with a {@code
 * .log} beside each. They are also how a new node-manager finds the starts of before.
 */
final class ExitRecords {

    /** One record, as far as it is written. */
    record Entry(long startId, String directory, int pid, Optional<End> end) {}

    /** The last line of a whole record. */
    record End(boolean signal, int value) {}

    private static final Pattern NAME = Pattern.compile("(\\d{1,4})-(\\d{1,19})");

    private final Path directory;

    ExitRecords(Path directory) {
        this.directory = directory;
    }

    Path record(int slot, long startId) {
        return directory.resolve(slot + "-" + startId);
    }

    Path log(int slot, long startId) {
        return directory.resolve(slot + "-" + startId + ".log");
    }

    Optional<Entry> read(int slot, long startId) throws IOException {
        Path file = record(slot, startId);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        String vm = "";
        int pid = 0;
        Optional<End> end = Optional.empty();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.split(" ", 2);
            if (words.length == 2) {
                switch (words[0]) {
                    case "vm" -> vm = words[1];
                    case "pid" -> pid = Integer.parseInt(words[1]);
                    case "code" -> end = Optional.of(new End(false, Integer.parseInt(words[1])));
                    case "signal" -> end = Optional.of(new End(true, Integer.parseInt(words[1])));
                    default -> {
                        // "lost": the parent could not tell; the same as no end.
                    }
                }
            }
        }
        return Optional.of(new Entry(startId, vm, pid, end));
    }

    /** The newest start of a slot: start ids may be any numbers, so the file's time decides. */
    Optional<Entry> newest(int slot) throws IOException {
        long newestId = 0;
        long newestTime = Long.MIN_VALUE;
        for (long id : startIds(slot)) {
            long time = Files.getLastModifiedTime(log(slot, id)).toMillis();
            if (time > newestTime || (time == newestTime && id > newestId)) {
                newestTime = time;
                newestId = id;
            }
        }
        return newestId == 0 ? Optional.empty() : read(slot, newestId);
    }

    List<Long> startIds(int slot) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(f -> NAME.matcher(String.valueOf(f.getFileName())))
                    .filter(m -> m.matches() && Integer.parseInt(m.group(1)) == slot)
                    .map(ExitRecords::startId)
                    .sorted()
                    .toList();
        }
    }

    private static Long startId(Matcher matcher) {
        return Long.valueOf(matcher.group(2));
    }

    String message(int slot, long startId) throws IOException {
        return Commands.head(log(slot, startId));
    }

    void delete(int slot, long startId) throws IOException {
        Files.deleteIfExists(record(slot, startId));
        Files.deleteIfExists(log(slot, startId));
    }
}
