package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.cli.platform.Users.User;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SecretsTest {

    @TempDir Path data = Path.of("");

    private User me() throws Exception {
        return new User(
                "me",
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"),
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:gid"));
    }

    @Test
    void aSecretIsMadeOnceAndItsModeSetRightEachTime() throws Exception {
        Secrets secrets = new Secrets(data.resolve("secrets"), me());
        Path key = secrets.apiKey();
        String first = Secrets.read(key);
        for (String wrong : new String[] {"rw-r--r--", "---------"}) {
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(wrong));
            assertThat(new Secrets(data.resolve("secrets"), me()).apiKey()).isEqualTo(key);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                    .isEqualTo("rw-------");
        }
        assertThat(Secrets.read(key)).isEqualTo(first).matches("space_[0-9a-f]{40}");
    }
}
