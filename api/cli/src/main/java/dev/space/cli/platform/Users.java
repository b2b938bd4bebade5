package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The system users of the services: made once, never removed, without shell, home or password. */
public final class Users {

    private static final Path PASSWD = Path.of("/etc/passwd");

    /** One user of the machine. */
    public record User(String name, int uid, int gid) {}

    private Users() {}

    public static User ensure(String name) {
        return find(name)
                .orElseGet(() -> {
                    var _ =
                            Command.must(
                                    Duration.ofSeconds(30),
                                    "useradd",
                                    "--system",
                                    "--user-group",
                                    "--no-create-home",
                                    "--home-dir",
                                    "/nonexistent",
                                    "--shell",
                                    "/usr/sbin/nologin",
                                    name);
                    return find(name)
                            .orElseThrow(() -> new PlatformException("useradd made no " + name));
                });
    }

    public static Optional<User> find(String name) {
        try {
            return Files.readAllLines(PASSWD).stream()
                    .map(line -> line.split(":", -1))
                    .filter(f -> f.length > 3 && f[0].equals(name))
                    .map(f -> new User(name, Integer.parseInt(f[2]), Integer.parseInt(f[3])))
                    .findFirst();
        } catch (IOException e) {
            throw new PlatformException("cannot read " + PASSWD, e);
        }
    }
}
