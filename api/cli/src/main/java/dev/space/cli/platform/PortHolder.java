package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Finds the process that listens on a TCP port, as far as /proc shows it to this user. */
final class PortHolder {

    private static final List<Path> TABLES =
            List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    private static final String LISTEN = "0A";
    private static final int FIELD_LOCAL = 1;
    private static final int FIELD_STATE = 3;
    private static final int FIELD_INODE = 9;

    private PortHolder() {}

    /** For instance {@code pid 4711 (nginx)}, or {@code another process}. */
    static String of(int port) {
        Set<String> sockets = sockets(port);
        if (!sockets.isEmpty()) {
            try (DirectoryStream<Path> processes =
                    Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
                for (Path process : processes) {
                    if (holds(process, sockets)) {
                        return "pid " + process.getFileName() + " (" + name(process) + ")";
                    }
                }
            } catch (IOException _) {
                // Told as unknown below.
            }
        }
        return "another process";
    }

    private static Set<String> sockets(int port) {
        String suffix = String.format(Locale.ROOT, ":%04X", port);
        Set<String> found = new HashSet<>();
        for (Path table : TABLES) {
            try {
                for (String line : Files.readAllLines(table)) {
                    String[] fields = line.strip().split("\\s+", -1);
                    if (fields.length > FIELD_INODE
                            && fields[FIELD_LOCAL].endsWith(suffix)
                            && fields[FIELD_STATE].equals(LISTEN)) {
                        found.add("socket:[" + fields[FIELD_INODE] + "]");
                    }
                }
            } catch (IOException _) {
                // No such protocol on this machine.
            }
        }
        return found;
    }

    private static boolean holds(Path process, Set<String> sockets) {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path fd : open) {
                if (sockets.contains(target(fd))) {
                    return true;
                }
            }
        } catch (IOException _) {
            // Ended meanwhile, or another user's.
        }
        return false;
    }

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private static String name(Path process) {
        try {
            return Files.readString(process.resolve("comm")).strip();
        } catch (IOException e) {
            return "?";
        }
    }
}
