package dev.space.cli.supervisor;

import dev.space.cli.platform.Owned;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Proc;
import dev.space.cli.platform.Users;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Starts one process as its user, in a session of its own, so that neither the terminal's end nor
 * the supervisor's takes it along.
 */
final class Launcher {

    private static final int LAST_WORDS_BYTES = 300;

    private final Platform platform;

    Launcher(Platform platform) {
        this.platform = platform;
    }

    ProcessRecord start(Service service) {
        Path log = platform.log().resolve(service.name() + ".log");
        try {
            if (!Files.exists(log)) {
                Owned.secret(log, new Users.User("root", 0, 0), "");
            }
            ProcessBuilder builder =
                    new ProcessBuilder(argv(service))
                            .directory(service.directory().toFile())
                            .redirectErrorStream(true)
                            .redirectInput(Path.of("/dev/null").toFile())
                            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().clear();
            builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            builder.environment().put("LANG", "C.UTF-8");
            builder.environment().putAll(service.env());
            return recorded(service, builder.start());
        } catch (IOException e) {
            throw new PlatformException(
                    "cannot start " + service.name() + ": " + e.getMessage(), e);
        }
    }

    /** One that has no record would be found by nobody, and be in the way of the next one. */
    private ProcessRecord recorded(Service service, Process process) {
        try {
            long pid = process.pid();
            long ticks =
                    Proc.startTicks(pid)
                            .orElseThrow(
                                    () -> new PlatformException(service.name() + " ended at once"));
            ProcessRecord entry =
                    new ProcessRecord(service.name(), pid, ticks, Instant.now().toString());
            ProcessRecord.write(platform, entry);
            return entry;
        } catch (PlatformException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** The end of what a process wrote, in brackets; empty when it wrote nothing. */
    String lastWords(Service service) {
        Path log = platform.log().resolve(service.name() + ".log");
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            file.seek(Math.max(0, file.length() - LAST_WORDS_BYTES));
            byte[] end = new byte[LAST_WORDS_BYTES];
            int length = Math.max(0, file.read(end));
            return new String(end, 0, length, StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank())
                    .reduce((before, last) -> last)
                    .map(last -> " (" + last.strip() + ")")
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    private static List<String> argv(Service service) {
        List<String> argv = new ArrayList<>(List.of("setsid"));
        if (service.user().uid() != 0) {
            argv.addAll(asUser(service.user(), service.groups()));
        }
        argv.addAll(service.argv());
        return argv;
    }

    /** setpriv in front of a command: that user, those groups, no capability, no way to get one. */
    static List<String> asUser(Users.User user, List<Integer> groups) {
        String list = groups.stream().map(String::valueOf).collect(Collectors.joining(","));
        return List.of(
                "setpriv",
                "--reuid=" + user.uid(),
                "--regid=" + user.gid(),
                groups.isEmpty() ? "--clear-groups" : "--groups=" + list,
                "--inh-caps=-all",
                "--bounding-set=-all",
                "--no-new-privs",
                "--");
    }
}
