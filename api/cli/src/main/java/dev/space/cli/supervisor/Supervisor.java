package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigException;
import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Accelerator;
import dev.space.cli.platform.Command;
import dev.space.cli.platform.NodeVolume;
import dev.space.cli.platform.Owned;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Ports;
import dev.space.cli.platform.Secrets;
import dev.space.client.ApiException;
import dev.space.client.SpaceClient;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The background process of {@code up}. One per data directory, held by a lock. It prepares the
 * machine, keeps every service running, and on SIGTERM pauses the sessions and takes everything
 * down again. When it is killed instead, its services go on and the next one adopts them.
 */
public final class Supervisor {

    /** A service that failed this often before it was ever ready makes `up` give up waiting. */
    private static final int START_FAILURES_MAX = 3;

    /** How long a stop that has to adopt first waits for what would let it pause sessions. */
    private static final Duration DOWN_WAIT = Duration.ofSeconds(90);

    private static final Duration LOOK_EVERY = Duration.ofMillis(200);

    /** How often the logs' sizes are looked at. */
    private static final Duration LOGS_EVERY = Duration.ofSeconds(5);

    private final Platform platform;
    private final StateFile state;
    private final Map<String, Watch> watches = new LinkedHashMap<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean stopping;
    private @Nullable Layout layout;

    public Supervisor(Platform platform) {
        this.platform = platform;
        this.state = new StateFile(platform);
    }

    /**
     * Runs until told to stop.
     *
     * @param thenDown take everything down as soon as it is up (to end what a killed supervisor
     *     left)
     */
    public int run(boolean thenDown) {
        try (FileChannel channel = lockFile();
                FileLock lock = channel.tryLock()) {
            if (lock == null) {
                System.err.println("another supervisor holds " + platform.data());
                return 3;
            }
            state.phase(PlatformState.Phase.STARTING, "preparing");
            Thread down = new Thread(this::takeDown, "down");
            if (thenDown) {
                Runtime.getRuntime().addShutdownHook(down);
            }
            try {
                prepare();
            } catch (ConfigException e) {
                // To stop sessions in order their platform must be known: nothing is touched.
                if (thenDown) {
                    var _ = Runtime.getRuntime().removeShutdownHook(down);
                }
                state.phase(PlatformState.Phase.FAILED, String.valueOf(e.getMessage()));
                return 1;
            } catch (PlatformException e) {
                state.phase(PlatformState.Phase.FAILED, String.valueOf(e.getMessage()));
                return 1;
            }
            if (!thenDown) {
                Runtime.getRuntime().addShutdownHook(down);
            }
            var _ = Thread.ofPlatform().daemon().name("logs").start(this::watchLogs);
            watches.values().forEach(w -> Thread.ofPlatform().name(w.service().name()).start(w));
            boolean up = awaitAll(thenDown);
            if (up && !thenDown) {
                resumeSessions();
                state.phase(PlatformState.Phase.READY, "");
            }
            if (!thenDown) {
                stopped.await();
            }
            return 0;
        } catch (IOException e) {
            throw new PlatformException("cannot lock " + platform.run(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }

    private void watchLogs() {
        SpaceConfig config = java.util.Objects.requireNonNull(layout).config();
        LogRotation logs =
                new LogRotation(
                        platform.log(),
                        config.number(ConfigKey.LOG_MAX_MIB) * 1024L * 1024,
                        config.number(ConfigKey.LOG_KEEP),
                        state::progress);
        try {
            while (!stopped.await(LOGS_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
                logs.look();
                state.catchUp();
                watches.values().forEach(Watch::keepRecord);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private FileChannel lockFile() throws IOException {
        Files.createDirectories(platform.run());
        return FileChannel.open(
                platform.run().resolve("supervisor.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
    }

    private void prepare() {
        SpaceConfig config = SpaceConfig.load(platform.config());
        Ports ports = Ports.choose(platform, config, heldPorts());
        Layout made = Layout.make(platform, config, ports);
        layout = made;
        String volume = new NodeVolume(platform).mount(config.number(ConfigKey.NODE_VOLUME_GIB));
        var _ = Owned.directory(platform.node(), made.node(), "rwx--x--x");
        state.progress("node volume: " + volume);
        if (made.embeddedPostgres()) {
            made.cluster().init();
        }
        Path jdk = ReadableJdk.of(platform, made.control());
        Launcher launcher = new Launcher(platform);
        Accelerator.Choice accelerator = made.accelerator();
        state.progress("accelerator: " + accelerator.name() + ", " + accelerator.why());
        for (Service service : new Services(made, jdk, accelerator.name()).all()) {
            Watch watch = new Watch(platform, service, launcher, state, watches);
            watch.announce();
            watches.put(service.name(), watch);
        }
    }

    /** Ports of services that still live and will be adopted. */
    private Set<String> heldPorts() {
        Map<String, List<String>> byService = new HashMap<>();
        byService.put("postgres", List.of("postgres"));
        byService.put(
                "temporal",
                List.of("temporal", "temporal-ui", "temporal-http", "temporal-metrics"));
        byService.put("objects", List.of("objects"));
        byService.put("control", List.of("control"));
        byService.put("node-worker", List.of("node-api", "node-http"));
        Set<String> held = new HashSet<>();
        byService.forEach((service, names) -> {
            if (ProcessRecord.live(platform, service).isPresent()) {
                held.addAll(names);
            }
        });
        return held;
    }

    /** Waits until every service was ready once; tells failure early and then may keep trying. */
    private boolean awaitAll(boolean giveUp) throws InterruptedException {
        List<Watch> waiting = new ArrayList<>(watches.values());
        boolean told = false;
        long deadline = System.nanoTime() + DOWN_WAIT.toNanos();
        while (!waiting.isEmpty()) {
            if (stopping) {
                return false;
            }
            if (giveUp && (told || System.nanoTime() > deadline)) {
                return false;
            }
            if (waiting.getFirst().awaitReady(LOOK_EVERY)) {
                waiting.removeFirst();
                continue;
            }
            for (Watch watch : waiting) {
                if (!told && watch.restarts() >= START_FAILURES_MAX) {
                    told = true;
                    state.phase(
                            PlatformState.Phase.FAILED,
                            watch.service().name() + " does not start: " + watch.lastFault());
                }
            }
        }
        return true;
    }

    private SessionsAtRest sessions(SpaceClient client) {
        return new SessionsAtRest(platform, client, state::progress);
    }

    /** The operator's interface has the same paths as the users', for every project's sessions. */
    private SpaceClient client(Layout made) {
        return new SpaceClient(
                URI.create("http://127.0.0.1:" + made.ports().of("control") + "/operator"),
                Secrets.read(platform.operatorKey()));
    }

    private void resumeSessions() {
        try (SpaceClient client = client(java.util.Objects.requireNonNull(layout))) {
            sessions(client).resumeAll();
        } catch (ApiException e) {
            state.progress("sessions not resumed: " + e.getMessage());
        }
    }

    /** The way down; runs in the shutdown hook, so that SIGTERM is the request. */
    private void takeDown() {
        stopping = true;
        state.phase(PlatformState.Phase.STOPPING, "pausing sessions");
        pauseSessions();
        watches.values().forEach(Watch::noMore);
        endUnwatched();
        List<Watch> reverse = new ArrayList<>(watches.values()).reversed();
        for (Watch watch : reverse) {
            state.phase(PlatformState.Phase.STOPPING, "stopping " + watch.service().name());
            watch.end();
        }
        String left = "";
        try {
            state.phase(PlatformState.Phase.STOPPING, "cleaning up");
            new Leftovers(platform).remove();
            new NodeVolume(platform).unmount();
            var _ =
                    Command.must(
                            Duration.ofSeconds(10), "rm", "-rf", platform.sockets().toString());
        } catch (PlatformException e) {
            left = String.valueOf(e.getMessage());
        }
        state.phase(PlatformState.Phase.STOPPED, left);
        stopped.countDown();
    }

    /** Services of an earlier supervisor, when this one could not even prepare. */
    private void endUnwatched() {
        for (String name :
                List.of(
                        "node-worker",
                        "node-manager",
                        "control",
                        "objects",
                        "temporal",
                        "postgres")) {
            if (!watches.containsKey(name)) {
                ProcessRecord.live(platform, name).ifPresent(r -> r.proc().signal("TERM"));
            }
        }
    }

    private void pauseSessions() {
        Layout made = layout;
        Watch control = watches.get("control");
        try {
            if (made == null || control == null || !control.awaitReady(Duration.ZERO)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try (SpaceClient client = client(made)) {
            sessions(client).pauseAll();
        } catch (ApiException e) {
            state.progress("sessions not paused: " + e.getMessage());
        }
    }
}
