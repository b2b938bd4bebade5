package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.certificates.Authority;
import dev.space.gateway.config.TlsFiles;
import dev.space.gateway.tcp.Timeouts;
import dev.space.vault.VaultSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A gateway that may look into TLS, an outside whose authority it trusts, and curl as sandbox. */
final class InterceptRig implements AutoCloseable {

    static final String NAME = "api.example";

    final Authority root = Authority.root(Instant.now());
    final Authority outsideRoot = Authority.root(Instant.now());
    final Rig rig;
    final String address;
    final Path rootFile;
    private final TestServer entrance;

    InterceptRig(Path directory) throws IOException {
        this(directory, Optional.empty());
    }

    InterceptRig(Path directory, Optional<Path> keyset) throws IOException {
        this(directory, keyset, Optional.empty());
    }

    InterceptRig(Path directory, Optional<Path> keyset, Optional<VaultSettings> vault)
            throws IOException {
        Assumptions.assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "only root may listen on port 443");
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")), "needs curl");
        Authority gateway = root.gateway("node-1", Instant.now());
        rootFile = Files.writeString(directory.resolve("root.crt"), root.chainPem());
        TlsFiles tls =
                new TlsFiles(
                        Optional.of(
                                Files.writeString(directory.resolve("ca.crt"), gateway.chainPem())),
                        Optional.of(
                                Files.writeString(directory.resolve("ca.key"), gateway.keyPem())),
                        keyset,
                        Optional.of(
                                Files.writeString(
                                        directory.resolve("outside.crt"), outsideRoot.chainPem())));
        rig =
                new Rig(
                        directory,
                        new Timeouts(
                                Duration.ofSeconds(3),
                                Duration.ofMinutes(1),
                                Duration.ofSeconds(2)),
                        1,
                        tls,
                        vault);
        long pid = ProcessHandle.current().pid();
        address = "127.79." + (pid >> 8 & 255) + "." + (pid & 255);
        rig.outsideDns.put(NAME, address);
        entrance = new TestServer(this::enter);
    }

    Origin origin(String... protocols) throws Exception {
        return new Origin(outsideRoot, NAME, address, 443, protocols);
    }

    /** What curl connects to leads into the slot, as the packet filter does. */
    private void enter(Socket client) throws IOException {
        try (Socket inner = rig.connect(NAME, 443)) {
            client.setTcpNoDelay(true);
            inner.setTcpNoDelay(true);
            Thread up =
                    Thread.ofVirtual()
                            .start(() -> {
                                try {
                                    pass(client, inner);
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            pass(inner, client);
            up.interrupt();
        }
    }

    private static void pass(Socket from, Socket to) throws IOException {
        try {
            long _ = from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException e) {
            from.close();
            to.close();
        }
    }

    int port() {
        return entrance.port();
    }

    /** Both outputs of curl, which trusts the installation's root alone. */
    String curl(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "curl",
                                "-sS",
                                "-m",
                                "20",
                                "--cacert",
                                rootFile.toString(),
                                "--connect-to",
                                "::127.0.0.1:" + entrance.port()));
        command.addAll(List.of(arguments));
        return run(command);
    }

    static String run(List<String> command) throws Exception {
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
        return output;
    }

    @Override
    public void close() {
        entrance.close();
        rig.close();
    }
}
