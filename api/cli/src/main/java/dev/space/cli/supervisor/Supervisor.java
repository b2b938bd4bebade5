package dev.space.cli.supervisor;

import dev.space.cli.config.ConfigException;
import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Accelerator;
import dev.space.cli.platform.Command;
import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Pause;
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
import java.util.Collections;
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

    /** Exit code of one that found another at work. */
    static final int ANOTHER = 3;

    /** A service that failed this often before it was ever ready makes `up` give up waiting. */
    private static final int START_FAILURES_MAX = 3;

    /** How long a stop that has to adopt first waits for what would let it pause sessions. */
    private static final Duration DOWN_WAIT = Duration.ofSeconds(90);

    private static final Duration LOOK_EVERY = Duration.ofMillis(200);

    /** How often the logs' sizes are looked at. */
    private static final Duration LOGS_EVERY = Duration.ofSeconds(5);

    private final Platform platform;
    private final StateFile state;
    private final Map<String, Watch> watches = Collections.synchronizedMap(new LinkedHashMap<>());
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean stopping;
    private final @Nullable Integer nodesAsked;
    private final boolean forced;
    private @Nullable Layout layout;
    private volatile @Nullable NodeRunner nodes;

    /**
     * @param nodes how many nodes to run; null for what the configuration says, or the last time
     * @param forced stop even what cannot be paused
     */
    public Supervisor(Platform platform, @Nullable Integer nodes, boolean forced) {
        this.forced = forced;
        this.platform = platform;
        this.nodesAsked = nodes;
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
                return ANOTHER;
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
            watched().forEach(Watch::start);
            boolean up = awaitAll(thenDown);
            if (up && !thenDown) {
                resumeSessions();
                state.phase(PlatformState.Phase.READY, "");
            }
            if (!thenDown) {
                watchNodes();
            }
            return 0;
        } catch (IOException e) {
            throw new PlatformException("cannot lock " + platform.run(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }

    /** Copies: nodes come and go meanwhile. */
    private List<Watch> watched() {
        synchronized (watches) {
            return List.copyOf(watches.values());
        }
    }

    /** Until the end: starts and stops nodes as operators ask. */
    private void watchNodes() throws InterruptedException {
        NodeRunner runner = java.util.Objects.requireNonNull(nodes);
        while (!stopped.await(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
            runner.look();
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
                watched().forEach(Watch::keepRecord);
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
        int count = NodeCount.choose(platform, config, nodesAsked);
        Ports ports = Ports.choose(platform, config, count, heldPorts());
        Layout made = Layout.make(platform, config, NodePlace.first(platform, count), ports);
        layout = made;
        if (made.embeddedPostgres()) {
            made.cluster().init();
        }
        Accelerator.Choice accelerator = made.accelerator();
        state.progress("accelerator: " + accelerator.name() + ", " + accelerator.why());
        Path jdk = ReadableJdk.of(platform, made.control());
        Services services = new Services(made, jdk, accelerator.name());
        Launcher launcher = new Launcher(platform);
        for (Service service : services.shared()) {
            Watch watch = new Watch(platform, service, launcher, state, watches);
            watch.announce();
            watches.put(service.name(), watch);
        }
        int gib = config.number(ConfigKey.NODE_VOLUME_GIB);
        NodeRunner runner = new NodeRunner(made, services, gib, state, watches, launcher);
        runner.prepare();
        nodes = runner;
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
        NodePlace.all(platform).forEach(place -> byService.put(place.worker(), place.ports()));
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
        List<Watch> waiting = new ArrayList<>(watched());
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
        String refused = atRest();
        if (!refused.isEmpty()) {
            // The services go on, as if this process had been killed.
            state.phase(PlatformState.Phase.FAILED, refused);
            return;
        }
        NodeRunner runner = nodes;
        if (runner != null) {
            runner.close();
        }
        watched().forEach(Watch::noMore);
        endUnwatched();
        for (Watch watch : watched().reversed()) {
            state.phase(PlatformState.Phase.STOPPING, "stopping " + watch.service().name());
            watch.end();
        }
        String left = "";
        try {
            state.phase(PlatformState.Phase.STOPPING, "cleaning up");
            for (NodePlace place : NodePlace.all(platform)) {
                NodeRunner.clear(place);
                Files.deleteIfExists(place.stopped());
            }
            var _ =
                    Command.must(
                            Duration.ofSeconds(10), "rm", "-rf", platform.sockets().toString());
        } catch (PlatformException | IOException e) {
            left = String.valueOf(e.getMessage());
        }
        state.phase(PlatformState.Phase.STOPPED, left);
        stopped.countDown();
    }

    /** Services of an earlier supervisor, when this one could not even prepare. */
    private void endUnwatched() {
        for (String name : Services.names(platform).reversed()) {
            if (!watches.containsKey(name)) {
                ProcessRecord.live(platform, name).ifPresent(r -> r.proc().signal("TERM"));
            }
        }
    }

    /** Pauses what runs; answers why something still does, unless it is to be stopped anyway. */
    private String atRest() {
        Layout made = layout;
        if (made == null) {
            return "";
        }
        RunningSandboxes running = sandboxes(made);
        String fault = "";
        long deadline = System.nanoTime() + (forced ? Duration.ZERO : DOWN_WAIT).toNanos();
        while (true) {
            try (SpaceClient client = client(made)) {
                sessions(client).pauseAll();
                fault = "";
            } catch (ApiException e) {
                fault = String.valueOf(e.getMessage());
                if (e.status() >= 400 && e.status() < 500) {
                    deadline = System.nanoTime(); // it will say the same again
                }
            } catch (PlatformException e) {
                fault = String.valueOf(e.getMessage());
            }
            if (running.sessions().isEmpty()) {
                return "";
            }
            if (System.nanoTime() >= deadline) {
                return forced ? "" : refusal(made, running.sessions(), fault);
            }
            if (!fault.isEmpty()) {
                state.phase(PlatformState.Phase.STOPPING, "pausing sessions: waits, " + fault);
            }
            Pause.of(LOOK_EVERY);
        }
    }

    private String refusal(Layout made, Set<String> left, String fault) {
        try (SpaceClient client = client(made)) {
            sessions(client).open();
        } catch (ApiException | PlatformException e) {
            state.progress("new sessions are not taken: " + e.getMessage());
        }
        return "nothing was stopped, because these could not be paused: "
                + String.join(", ", left)
                + (fault.isEmpty() ? "" : " (" + fault + ")")
                + "\n(`./space up` goes on with them; `./space down --force` stops them as they are:"
                + " what they did since their last snapshot is lost)";
    }

    private RunningSandboxes sandboxes(Layout made) {
        SpaceConfig config = made.config();
        return new RunningSandboxes(
                NodePlace.all(platform),
                config.number(ConfigKey.NODE_SLOT_UID_BASE),
                config.number(ConfigKey.NODE_SLOTS));
    }
}
