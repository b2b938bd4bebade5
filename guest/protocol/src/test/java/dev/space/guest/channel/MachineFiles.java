package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * What a test machine boots from: kernel and modules of the engine bundle named by
 * SPACE_TEST_BUNDLE, or the newest one in the cache, with the daemon that was just built over the
 * bundle's, and a small root file system.
 */
final class MachineFiles {

    private static final Path DAEMON =
            Path.of("../daemon/target/x86_64-unknown-linux-musl/release/space-daemon");

    private MachineFiles() {}

    /** A new directory; skips the test, with the reason, where something is missing. */
    static Path prepare() throws IOException {
        var bundle = bundle();
        var missing = bundle.isEmpty() || !Files.isExecutable(DAEMON);
        if (missing) {
            System.err.println("SKIPPED: the boot: no engine bundle, or the daemon is not built");
        }
        Assumptions.assumeFalse(missing, "no engine bundle, or the daemon is not built");
        var directory = Files.createTempDirectory("space-machine-");
        var boot = bundle.orElseThrow().resolve("boot");
        Files.createSymbolicLink(directory.resolve("vmlinux"), boot.resolve("vmlinux"));
        // Not the distribution's firmware: it hangs with some sizes of initrd.
        Files.createSymbolicLink(
                directory.resolve("firmware"), boot.resolveSibling("usr/share/qemu"));
        var initrd = new ByteArrayOutputStream();
        initrd.writeBytes(Files.readAllBytes(boot.resolve("initrd")));
        initrd.writeBytes(new byte[(4 - initrd.size() % 4) % 4]);
        initrd.writeBytes(archive("init", Files.readAllBytes(DAEMON)));
        Files.write(directory.resolve("initrd"), initrd.toByteArray());
        LiveDaemon.run("sh", "-c", ROOT_FILE_SYSTEM, directory.toString());
        return directory;
    }

    private static final String ROOT_FILE_SYSTEM =
            "set -e; cd $0; mkdir -p r/bin r/etc r/home/user r/tmp; cp /bin/busybox r/bin/;"
                    + " for a in $(busybox --list); do"
                    + " [ -e r/bin/$a ] || ln -s busybox r/bin/$a; done;"
                    + " printf 'root:x:0:0::/:/bin/sh\\nuser:x:1000:1000::/home/user:/bin/sh\\n'"
                    + " > r/etc/passwd; chown 1000:1000 r/home/user;"
                    + " mke2fs -q -t ext4 -b 4096 -d r disk 32M; truncate -s 512M disk; rm -r r";

    private static Optional<Path> bundle() throws IOException {
        var named = System.getenv("SPACE_TEST_BUNDLE");
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        var all = Path.of("/var/cache/space/bundles");
        if (!Files.isDirectory(all)) {
            return Optional.empty();
        }
        try (var bundles = Files.list(all)) {
            return bundles.filter(b -> Files.exists(b.resolve("boot/initrd")))
                    .max(Comparator.comparingLong(b -> b.toFile().lastModified()));
        }
    }

    /**
     * A cpio archive (newc) of one executable: a later archive's file replaces an earlier one's.
     */
    private static byte[] archive(String name, byte[] content) {
        var out = new ByteArrayOutputStream();
        entry(out, name, 0100755, content);
        entry(out, "TRAILER!!!", 0, new byte[0]);
        return out.toByteArray();
    }

    private static void entry(ByteArrayOutputStream out, String name, int mode, byte[] content) {
        var header =
                "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\0"
                        .formatted(
                                0,
                                mode,
                                0,
                                0,
                                1,
                                0,
                                content.length,
                                0,
                                0,
                                0,
                                0,
                                name.length() + 1,
                                0,
                                name);
        out.writeBytes(header.getBytes(UTF_8));
        out.writeBytes(new byte[(4 - out.size() % 4) % 4]);
        out.writeBytes(content);
        out.writeBytes(new byte[(4 - out.size() % 4) % 4]);
    }
}
