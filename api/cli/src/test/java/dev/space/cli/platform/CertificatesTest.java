package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.certificates.Authority;
import dev.space.cli.platform.Users.User;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CertificatesTest {

    @TempDir Path data = Path.of("");

    private final Instant start = Instant.now();

    private User me() throws Exception {
        return new User(
                "me",
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"),
                (int) Files.getAttribute(Path.of("/proc/self"), "unix:gid"));
    }

    private Certificates after(Duration time) throws Exception {
        return new Certificates(
                data.resolve("secrets"), me(), Clock.fixed(start.plus(time), ZoneOffset.UTC));
    }

    private static String mode(Path file) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static Authority read(Certificates.Pair files) throws Exception {
        return Authority.read(files.chain(), files.key());
    }

    @Test
    void theRootIsMadeOnceAndItsKeyIsForItsOwnerOnly() throws Exception {
        Path root = after(Duration.ZERO).rootCertificate();
        String first = Files.readString(root);
        assertThat(mode(root)).isEqualTo("rw-r--r--");
        Path key = root.resolveSibling("ca-root.key");
        assertThat(mode(key)).isEqualTo("rw-------");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThat(Files.readString(after(Duration.ofDays(3000)).rootCertificate()))
                .isEqualTo(first);
        assertThat(mode(key)).as("set right again").isEqualTo("rw-------");
    }

    @Test
    void eachGatewayHasItsOwnBelowTheRootAndItIsRenewed() throws Exception {
        Authority one = read(after(Duration.ZERO).gateway("gateway", me()));
        Certificates.Pair files = after(Duration.ofDays(100)).gateway("gateway", me());
        assertThat(read(files).chain()).isEqualTo(one.chain());
        assertThat(mode(files.key())).isEqualTo("rw-------");
        assertThat(read(after(Duration.ZERO).gateway("gateway-2", me())).key())
                .isNotEqualTo(one.key());
        Authority renewed = read(after(Duration.ofDays(200)).gateway("gateway", me()));
        assertThat(renewed.own()).isNotEqualTo(one.own());
        assertThat(renewed.chain().getLast()).isEqualTo(one.chain().getLast());
        Files.delete(files.key());
        assertThat(read(after(Duration.ofDays(200)).gateway("gateway", me())).own())
                .as("a lost key")
                .isNotEqualTo(renewed.own());
    }

    @Test
    void aRootThatEndsSoonIsReplacedAndSetAside() throws Exception {
        Authority before = read(after(Duration.ZERO).gateway("gateway", me()));
        Duration late = Authority.ROOT_VALIDITY.minus(Duration.ofDays(30));
        Path root = after(late).rootCertificate();
        assertThat(root.resolveSibling("ca-root.crt.old")).exists();
        Authority after = read(after(late).gateway("gateway", me()));
        assertThat(after.chain().getLast()).isNotEqualTo(before.chain().getLast());
    }

    @Test
    void aDamagedRootIsToldAndNotReplaced() throws Exception {
        Path root = after(Duration.ZERO).rootCertificate();
        Files.writeString(root, "nothing");
        assertThatThrownBy(() -> after(Duration.ZERO).rootCertificate())
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("backup");
    }
}
