package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * The real space-daemon in its plain process mode: in pid and mount namespaces of its own, with
 * control groups of its own, so that nothing outlives the test.
 */
final class LiveDaemon implements AutoCloseable {

    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final Path BINARY =
            Path.of("../daemon/target/x86_64-unknown-linux-musl/release/space-daemon");

    private final Process process;
    private final Path directory;
    private final Path cgroup;
    private Token token = Token.UNSET;

    private LiveDaemon(Process process, Path directory, Path cgroup) {
        this.process = process;
        this.directory = directory;
        this.cgroup = cgroup;
    }

    /** Skips the test, with the reason, where the daemon cannot run. */
    static LiveDaemon start() throws IOException, InterruptedException {
        assume(Files.isExecutable(BINARY), "there is no " + BINARY + "; build it with cargo");
        assume("root".equals(System.getProperty("user.name")), "it needs root");
        var unified = unifiedHierarchy();
        var directory = Files.createTempDirectory("space-guest-");
        var cgroup = unified.resolve(directory.getFileName());
        var process =
                new ProcessBuilder(
                                List.of(
                                        "unshare",
                                        "--pid",
                                        "--fork",
                                        "--kill-child",
                                        "--mount-proc",
                                        BINARY.toAbsolutePath().toString(),
                                        "--socket",
                                        directory.resolve("s").toString(),
                                        "--cgroup",
                                        cgroup.toString()))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile())
                        .start();
        var daemon = new LiveDaemon(process, directory, cgroup);
        daemon.awaitSocket();
        return daemon;
    }

    private static void assume(boolean condition, String reason) {
        if (!condition) {
            System.err.println("SKIPPED: the channel against the real daemon: " + reason);
        }
        Assumptions.assumeTrue(condition, reason);
    }

    private static Path unifiedHierarchy() throws IOException {
        for (var line : Files.readAllLines(Path.of("/proc/mounts"))) {
            var fields = line.split(" ", -1);
            if (fields[2].equals("cgroup2")) {
                return Path.of(fields[1]);
            }
        }
        assume(false, "no cgroup v2 hierarchy is mounted");
        throw new IllegalStateException("not reached");
    }

    private void awaitSocket() throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!Files.exists(directory.resolve("s"))) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                throw new IllegalStateException(Files.readString(directory.resolve("log"), UTF_8));
            }
            // The daemon has no other sign before its socket.
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    SocketChannel connect() throws IOException {
        var address = UnixDomainSocketAddress.of(directory.resolve("s"));
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                return SocketChannel.open(address);
            } catch (ConnectException e) {
                // Its name is there a moment before it listens.
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Freezes the workload: on a busy machine it may not stand still within the daemon's few
     * milliseconds, which it says; then it is asked again.
     */
    static void freeze(GuestClient client) {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!client.freeze()) {
            client.thaw();
            if (System.nanoTime() > deadline) {
                throw new AssertionError("the workload never stood still in time");
            }
        }
    }

    /** A new connection with its handshake done; the first one replaces the token. */
    GuestChannel open() throws IOException {
        var channel = GuestChannel.open(connect());
        channel.handshake(nextHandshake(), TIMEOUT);
        return channel;
    }

    Handshake nextHandshake() {
        var handshake =
                token.equals(Token.UNSET)
                        ? Handshake.afterStart(token, Token.random(new SecureRandom()))
                        : Handshake.reconnect(token);
        token = handshake.established();
        return handshake;
    }

    Token token() {
        return token;
    }

    /** A directory that the user "nobody" owns. */
    Path home() throws IOException {
        var home = directory.resolve("home");
        if (!Files.exists(home)) {
            Files.createDirectory(home);
            Files.setAttribute(home, "unix:uid", uidOfNobody());
            run("chmod", "755", directory.toString());
        }
        return home;
    }

    static int uidOfNobody() throws IOException {
        return Files.readAllLines(Path.of("/etc/passwd")).stream()
                .map(line -> line.split(":", -1))
                .filter(fields -> fields[0].equals("nobody"))
                .mapToInt(fields -> Integer.parseInt(fields[2]))
                .findFirst()
                .orElseThrow();
    }

    static void run(String... command) throws IOException {
        try {
            var code = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (code != 0) {
                throw new IllegalStateException(String.join(" ", command) + " failed: " + code);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    Path cgroup() {
        return cgroup;
    }

    /** What the daemon itself has of the machine's memory. */
    long residentBytes() throws IOException {
        // "unshare" forked it.
        var pid = process.children().findFirst().orElseThrow().pid();
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }

    String log() throws IOException {
        return Files.readString(directory.resolve("log"), UTF_8);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // Killed tasks leave their groups a moment later.
        run(
                "sh",
                "-c",
                "for i in 1 2 3 4 5 6 7 8 9 10; do find $0 -depth -type d -exec rmdir {} +"
                        + " 2>/dev/null; [ -e $0 ] || break; sleep 0.1; done; rm -rf $1",
                cgroup.toString(),
                directory.toString());
    }
}
