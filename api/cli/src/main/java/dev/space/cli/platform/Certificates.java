package dev.space.cli.platform;

import dev.space.certificates.Authority;
import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The installation's certificates for looking into TLS: a root, made once, whose key only root can
 * read, and below it an authority for each gateway with a key that only this gateway can read.
 */
public final class Certificates {

    /** A root that ends earlier is replaced; sandboxes from before do not know the new one. */
    static final Duration ROOT_LEFT_MIN = Duration.ofDays(90);

    /** A gateway's is renewed long before, at a start that happens anyway. */
    static final Duration GATEWAY_LEFT_MIN = Duration.ofDays(180);

    private static final String OPEN = "rw-r--r--";
    private static final String OWN = "rw-------";

    private final Path directory;
    private final User root;
    private final Clock clock;

    /** Files of one gateway. */
    public record Pair(Path chain, Path key) {}

    public Certificates(Path directory, User root, Clock clock) {
        this.directory = Owned.directory(directory, root, "rwx--x--x");
        this.root = root;
        this.clock = clock;
    }

    /** The root's certificate, which everybody may read: it goes into every sandbox. */
    public Path rootCertificate() {
        var _ = rootAuthority();
        return rootFile("crt");
    }

    private Path rootFile(String kind) {
        return directory.resolve("ca-root." + kind);
    }

    private Authority rootAuthority() {
        Instant now = clock.instant();
        Path certificate = rootFile("crt");
        Path key = rootFile("key");
        if (Files.exists(certificate)) {
            Authority there = read(certificate, Owned.file(key, root, OWN));
            if (there.lasts(ROOT_LEFT_MIN, now)) {
                var _ = Owned.file(certificate, root, OPEN);
                return there;
            }
            setAside(List.of(certificate, key));
        }
        Authority made = Authority.root(now);
        // The key first: a certificate without one would be taken for damage at the next start.
        var _ = Owned.secret(key, root, made.keyPem());
        var _ = Owned.secret(certificate, root, made.chainPem());
        var _ = Owned.file(certificate, root, OPEN);
        return made;
    }

    private static Authority read(Path certificate, Path key) {
        try {
            return Authority.read(certificate, key);
        } catch (IOException e) {
            throw new PlatformException(
                    "the installation's root in "
                            + certificate
                            + " is damaged: put it back from a backup, or remove both files of it;"
                            + " sandboxes and snapshots from before do not know a new one",
                    e);
        }
    }

    private static void setAside(List<Path> files) {
        try {
            for (Path file : files) {
                Path aside = file.resolveSibling(file.getFileName() + ".old");
                Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new PlatformException("cannot set an old root aside: " + e.getMessage(), e);
        }
    }

    /** What one gateway signs with: made when it is missing, soon over, or below another root. */
    public Pair gateway(String name, User reader) {
        Authority above = rootAuthority();
        Path chain = directory.resolve("ca-" + name + ".crt");
        Path key = directory.resolve("ca-" + name + ".key");
        if (!isGood(chain, key, above)) {
            Authority made = above.gateway(name, clock.instant());
            // Without its chain a key is made again.
            deleteIfThere(chain);
            var _ = Owned.secret(key, reader, made.keyPem());
            var _ = Owned.secret(chain, reader, made.chainPem());
        }
        return new Pair(Owned.file(chain, reader, OWN), Owned.file(key, reader, OWN));
    }

    private boolean isGood(Path chain, Path key, Authority above) {
        try {
            Authority there = Authority.read(chain, key);
            return there.isBelow(above.own()) && there.lasts(GATEWAY_LEFT_MIN, clock.instant());
        } catch (IOException e) {
            return false;
        }
    }

    private static void deleteIfThere(Path file) {
        try {
            var _ = Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new PlatformException("cannot remove " + file, e);
        }
    }
}
