package dev.space.bench.gateway;

import dev.space.certificates.Authority;
import dev.space.gatewayapi.GatewayChannel;
import dev.space.gatewayapi.v1.BindRequest;
import dev.space.gatewayapi.v1.Binding;
import dev.space.gatewayapi.v1.GatewayGrpc;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The namespaces, and in them the gateway of this release, a client and a server. */
public final class GatewayRig implements AutoCloseable {

    private static final String NAME = "api.bench.test";
    private static final int PORT = 443;
    private static final String PREFIX = "Bearer ";
    private static final int SECRET_BYTES = 32;
    private static final int CALL_SECONDS = 20;
    private static final int READY_SECONDS = 60;
    private static final int END_SECONDS = 10;
    private static final String SESSION = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";

    private final Path directory;
    private final Path release;
    private final Path cache;
    private final List<String> gatewayOptions;
    private final String authorization;
    private final Grant grant;
    private final Thread atEnd = new Thread(this::closeQuietly, "close-rig");

    private final List<AutoCloseable> open = new ArrayList<>();
    private @Nullable Namespaces namespaces;
    private @Nullable Process client;
    private @Nullable GatewayChannel channel;
    private @Nullable Path mitmdump;
    private @Nullable Mitmproxy peer;
    private long version;

    private GatewayRig(Path release, Path cache, List<String> gatewayOptions)
            throws IOException, GeneralSecurityException {
        this.release = release;
        this.cache = cache;
        this.gatewayOptions = List.copyOf(gatewayOptions);
        directory = Files.createTempDirectory("space-bench-gateway");
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        String value = HexFormat.of().formatHex(secret);
        authorization = PREFIX + value;
        grant = Grant.of(NAME, PORT, PREFIX, value);
        Runtime.getRuntime().addShutdownHook(atEnd);
    }

    /**
     * Starts all but the peer.
     *
     * @param gatewayOptions the JVM options of the platform's own gateway
     */
    public static GatewayRig start(Path release, Path cache, List<String> gatewayOptions)
            throws IOException, GeneralSecurityException {
        GatewayRig rig = new GatewayRig(release, cache, gatewayOptions);
        boolean whole = false;
        try {
            rig.begin();
            whole = true;
            return rig;
        } finally {
            if (!whole) {
                rig.close();
            }
        }
    }

    private void begin() throws IOException {
        String tag = "sgb" + ProcessHandle.current().pid();
        Namespaces made = Namespaces.make(tag, NAME);
        namespaces = made;
        open.addFirst(made);
        open.addFirst(SlotSocketsServer.start(directory.resolve("sockets"), made.slotFile()));
        server(made);
        gateway(made);
        client = start("client", made.inGuest(java("LoadClient", NAME, roots().toString())));
    }

    private void server(Namespaces made) throws IOException {
        String[] arguments = {NAME, outsideRoot().toString(), "" + authorization.length()};
        Process server = start("server", made.inOutside(java("OutsideServer", arguments)));
        say(server, authorization);
        String ready = line(server);
        if (!ready.equals(OutsideServer.READY)) {
            throw new IOException("the server said " + ready);
        }
    }

    private void gateway(Namespaces made) throws IOException {
        Authority root = Authority.root(Instant.now());
        Authority own = root.gateway("bench", Instant.now());
        Files.writeString(directory.resolve("root.crt"), root.chainPem());
        List<String> configuration =
                List.of(
                        "control-socket=" + directory.resolve("control"),
                        "sockets-socket=" + directory.resolve("sockets"),
                        "worker-uid=0",
                        "resolvers=127.0.0.1:53",
                        "ca-chain=" + secret("ca.crt", own.chainPem()),
                        "ca-key=" + secret("ca.key", own.keyPem()),
                        "credential-keyset=" + secret("keyset", grant.keyset()),
                        "extra-roots=" + outsideRoot());
        Path file = directory.resolve("gateway.properties");
        Files.write(file, configuration.stream().map(l -> "space.gateway." + l).toList());
        Path home = release.resolve("gateway");
        List<String> command = new ArrayList<>(List.of(javaProgram()));
        command.addAll(gatewayOptions);
        command.addAll(
                List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        home + "/*:" + home + "/lib/*",
                        "dev.space.gateway.Main",
                        "--config",
                        file.toString()));
        Process _ = start("gateway", made.inOutside(command));
        GatewayChannel opened = GatewayChannel.open(directory.resolve("control"));
        channel = opened;
        open.addFirst(opened);
    }

    /** The directory is this user's alone. */
    private Path secret(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private Path outsideRoot() {
        return directory.resolve("outside.crt");
    }

    private Path roots() {
        return directory.resolve("roots.crt");
    }

    private static String javaProgram() {
        return Path.of(System.getProperty("java.home"), "bin/java").toString();
    }

    /**
     * With the JDK's own compilation: encryption by the first compiler alone would be the limit.
     */
    private static List<String> java(String main, String... arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                javaProgram(),
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                GatewayRig.class.getPackageName() + "." + main));
        command.addAll(List.of(arguments));
        return command;
    }

    private Process start(String part, List<String> command) throws IOException {
        boolean talks = !part.equals("gateway");
        Path log = directory.resolve(part + ".log");
        Redirect output = talks ? Redirect.PIPE : Redirect.appendTo(log.toFile());
        Process process =
                new ProcessBuilder(command)
                        .redirectError(Redirect.appendTo(log.toFile()))
                        .redirectOutput(output)
                        .start();
        open.addFirst(() -> end(process, END_SECONDS));
        return process;
    }

    /** Ends a process that was started here. */
    static void end(Process process, int seconds) {
        process.destroy();
        process.onExit().completeOnTimeout(process, seconds, TimeUnit.SECONDS).join();
        if (process.isAlive()) {
            process.destroyForcibly();
        }
    }

    private static void say(Process process, String text) throws IOException {
        Writer writer = process.outputWriter(StandardCharsets.UTF_8);
        writer.write(text);
        writer.flush();
    }

    private String line(Process process) throws IOException {
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        String line = lines.readLine();
        if (line == null) {
            StringBuilder why = new StringBuilder("a part of the benchmark ended");
            for (String part : List.of("client", "server", "gateway")) {
                Path log = directory.resolve(part + ".log");
                if (Files.exists(log)) {
                    Stream<String> last = Files.readAllLines(log).reversed().stream().limit(1);
                    last.forEach(l -> why.append("; ").append(part).append(": ").append(l));
                }
            }
            throw new IOException(why.toString());
        }
        return line;
    }

    /** Has the peer, installing it if need be. */
    public void withPeer() throws IOException {
        mitmdump = Mitmproxy.install(cache);
        Files.createDirectories(directory.resolve("mitmproxy"));
    }

    /** From now on gateway and peer do this; what was before them is gone. */
    public void use(Mode mode) throws IOException {
        version++;
        bind(mode);
        Namespaces made = demand(namespaces);
        Mitmproxy former = peer;
        peer = null;
        if (former != null) {
            former.close();
        }
        Path state = directory.resolve("mitmproxy");
        StringBuilder trusted = new StringBuilder();
        trusted.append(Files.readString(outsideRoot()));
        trusted.append(Files.readString(directory.resolve("root.crt")));
        if (mitmdump != null) {
            Path secret = secret("authorization", authorization);
            List<String> more = mode.mitmproxy(secret.toString());
            peer = Mitmproxy.start(mitmdump, made, NAME, state, outsideRoot(), more);
            trusted.append(Files.readString(Mitmproxy.authority(state)));
        }
        Files.writeString(roots(), trusted);
    }

    private void bind(Mode mode) {
        Binding.Builder binding =
                Binding.newBuilder()
                        .setSlot(1)
                        .setSessionId(SESSION)
                        .setEpoch(1)
                        .setPolicyVersion(version);
        BindRequest.Builder request =
                BindRequest.newBuilder().setBinding(binding).setPolicyJson(mode.policy(NAME));
        if (mode.injects()) {
            request.setGrantsJson(grant.json());
        }
        var _ =
                GatewayGrpc.newBlockingStub(demand(channel).channel())
                        .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
                        .withWaitForReady()
                        .bind(request.build());
    }

    private static <T> T demand(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("the rig is not started");
        }
        return part;
    }

    /** Which way a job goes. */
    public enum Way {
        DIRECT,
        GATEWAY,
        PEER
    }

    /** Whether there is a peer to compare with. */
    public boolean hasPeer() {
        return peer != null;
    }

    /**
     * Does a job. On the direct way the client sends the credential itself.
     *
     * @param bytes of each answer
     */
    public Figures run(
            Way way,
            Mode mode,
            String protocol,
            int connections,
            int streams,
            int bytes,
            int requestsMax,
            int millisMax)
            throws IOException {
        boolean sends = mode.injects() && way == Way.DIRECT;
        Job job =
                new Job(
                        way == Way.GATEWAY ? NAME : Namespaces.OUTSIDE_ADDRESS,
                        way == Way.PEER ? Mitmproxy.PORT : PORT,
                        protocol,
                        connections,
                        streams,
                        (mode.injects() ? "/key/" : "/") + bytes,
                        sends ? authorization : Job.NONE,
                        requestsMax,
                        millisMax);
        Process worker = demand(client);
        say(worker, job.line() + "\n");
        return Figures.of(line(worker));
    }

    /** Waits until the peer answers; it starts slowly. */
    public void awaitPeer(Mode mode, String protocol) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
        while (run(Way.PEER, mode, protocol, 1, 1, 1, 1, 1000).ok() == 0) {
            if (System.nanoTime() > end) {
                throw new IOException("mitmproxy does not answer");
            }
        }
    }

    private void closeQuietly() {
        try {
            closeAll();
        } catch (IOException e) {
            System.err.println("space: the benchmark left something behind: " + e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        closeAll();
        boolean _ = Runtime.getRuntime().removeShutdownHook(atEnd);
    }

    private synchronized void closeAll() throws IOException {
        Mitmproxy last = peer;
        peer = null;
        if (last != null) {
            last.close();
        }
        try {
            for (AutoCloseable part : open) {
                part.close();
            }
            open.clear();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e.getMessage(), e);
        }
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(Comparator.reverseOrder()).forEach(GatewayRig::delete);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
