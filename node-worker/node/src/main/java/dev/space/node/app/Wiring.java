package dev.space.node.app;

import dev.space.durable.S3DurableStore;
import dev.space.durable.S3Settings;
import dev.space.model.Secret;
import dev.space.nativeabi.FileSystemType;
import dev.space.node.config.NodeConfig;
import dev.space.node.egress.Egress;
import dev.space.node.egress.GrpcGateway;
import dev.space.node.egress.PolicySource;
import dev.space.node.engine.fake.FakeEngine;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.engine.fake.FaultPlan;
import dev.space.node.engine.qemu.Accelerator;
import dev.space.node.engine.qemu.Bundles;
import dev.space.node.engine.qemu.ManagerLauncher;
import dev.space.node.engine.qemu.QemuEngine;
import dev.space.node.engine.spi.Engine;
import dev.space.node.pool.PoolSettings;
import dev.space.node.pool.WarmPool;
import dev.space.node.reports.ControlPlane;
import dev.space.node.reports.ControlPlaneKeys;
import dev.space.node.reports.ControlPlanePolicies;
import dev.space.node.reports.ControlPlaneTemplates;
import dev.space.node.reports.ReportSink;
import dev.space.node.sandbox.LiveFiles;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.sandbox.ObjectStore;
import dev.space.node.templates.CacheTemplates;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.templates.GuestRoot;
import dev.space.node.templates.StartSnapshotMaker;
import dev.space.node.templates.TemplateSource;
import dev.space.node.templates.TemplateStore;
import dev.space.node.volumes.CopyCloner;
import dev.space.node.volumes.ReflinkCloner;
import dev.space.node.volumes.Volume;
import dev.space.privileged.PrivilegedClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The parts that depend on which engine the node has. */
record Wiring(
        Volume volume,
        Engine engine,
        TemplateSource templates,
        LiveFiles liveFiles,
        Optional<CacheTemplates> published) {

    private static final String VOLUME = "main";
    private static final Duration FAKE_DELAY_MAX = Duration.ofMillis(50);
    private static final int MEMORY_NUMERATOR = 4;
    private static final int MEMORY_DENOMINATOR = 5;

    /** Of its memory at most one part in this many waits for sessions. */
    private static final int POOL_SHARE = 4;

    private static final int POOL_MAX = 64;

    /** Slots that nothing waits in, so that a burst finds some at once. */
    private static final int SLOTS_SPARE = 2;

    static Wiring of(
            NodeConfig.Node node, MemoryBudget memory, TemplateStore stored, FakeMachine machine) {
        return switch (node.engine()) {
            case FakeEngine.NAME -> fake(node, machine);
            case QemuEngine.NAME -> qemu(node, memory, stored);
            default ->
                    throw new IllegalArgumentException(
                            "space.node.engine is qemu or fake, not " + node.engine());
        };
    }

    /** Without an S3 server, or anybody to ask for keys, nothing can be stored. */
    static ObjectStore objects(NodeConfig config, @Nullable ControlPlane control) {
        NodeConfig.ObjectStore s3 = config.objectStore();
        if (s3.endpoint().isEmpty() || control == null) {
            return ObjectStore.NONE;
        }
        S3Settings settings =
                new S3Settings(
                        s3.endpoint().get(),
                        s3.region(),
                        s3.bucket(),
                        needed("access-key", s3.accessKey()),
                        secret(needed("secret-key-file", s3.secretKeyFile())));
        return new ObjectStore(
                new S3DurableStore(settings), new ControlPlaneKeys(control, config.node().id()));
    }

    /** Templates of other nodes; without an object store there are none. */
    static TemplateStore templates(
            NodeConfig config, ObjectStore objects, @Nullable ControlPlane control) {
        return control == null || config.objectStore().endpoint().isEmpty()
                ? TemplateStore.NONE
                : new ControlPlaneTemplates(control, objects.store(), config.node().id());
    }

    /** Without a gateway no sandbox reaches anything. */
    static Egress egress(NodeConfig.Node node, @Nullable ControlPlane control, ReportSink reports) {
        PolicySource policies =
                control == null
                        ? PolicySource.NOBODY
                        : new ControlPlanePolicies(control, node.id());
        return node.gatewaySocket()
                .map(socket -> Egress.of(new GrpcGateway(socket), policies, reports))
                .orElseGet(Egress::none);
    }

    private static <T> T needed(String key, Optional<T> value) {
        return value.orElseThrow(() ->
                new IllegalArgumentException(
                        "space.object-store.endpoint needs space.object-store." + key));
    }

    private static Secret secret(Path file) {
        try {
            return Secret.ofText("object store key", Files.readString(file).strip());
        } catch (IOException e) {
            throw new UncheckedIOException("space.object-store.secret-key-file", e);
        }
    }

    static Path root(NodeConfig.Node node) {
        return node.dataDir().resolve("volumes").resolve(VOLUME);
    }

    private static Wiring fake(NodeConfig.Node node, FakeMachine machine) {
        Volume volume = new Volume(root(node), new CopyCloner(), node.diskReserveMib() << 20);
        FaultPlan faults =
                node.fakeFaultPercent() == 0
                        ? FaultPlan.NONE
                        : new FaultPlan(node.fakeSeed(), node.fakeFaultPercent(), FAKE_DELAY_MAX);
        Engine engine = new FakeEngine(machine, faults, Clock.systemUTC(), node.slots());
        return new Wiring(
                volume,
                engine,
                new FakeTemplates(volume),
                new LiveFiles(volume, false),
                Optional.empty());
    }

    private static Wiring qemu(NodeConfig.Node node, MemoryBudget memory, TemplateStore stored) {
        Volume volume = new Volume(root(node), new ReflinkCloner(), node.diskReserveMib() << 20);
        requireBtrfs(root(node));
        Path socket =
                node.managerSocket()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "the qemu engine needs" + " space.node.manager-socket"));
        LiveFiles liveFiles = new LiveFiles(volume, true);
        Engine engine =
                new QemuEngine(
                        new ManagerLauncher(
                                new PrivilegedClient(socket, PrivilegedClient.TIMEOUT_DEFAULT)),
                        new Bundles(node.cacheDir()),
                        Accelerator.of(node.accelerator()),
                        node.slots());
        CacheTemplates templates =
                new CacheTemplates(
                        node.cacheDir(),
                        node.templateNamesDir()
                                .orElseGet(() -> node.cacheDir().resolve("templates/by-name")),
                        volume,
                        stored,
                        new StartSnapshotMaker(
                                engine, volume, liveFiles, memory, GuestRoot.of(node.guestRoot())));
        return new Wiring(volume, engine, templates, liveFiles, Optional.of(templates));
    }

    WarmPool pool(PoolSettings settings, MemoryBudget memory) {
        WarmPool pool = new WarmPool(settings, templates, engine, volume, liveFiles, memory);
        memory.onShortage(pool::giveUpOne);
        return pool;
    }

    static PoolSettings pool(NodeConfig.Node node, MemoryBudget memory, Preparation preparation) {
        NodeConfig.Pool pool = node.pool();
        long most = pool.memoryMib() << 20;
        return new PoolSettings(
                preparation.starts(),
                hot(pool.hot()),
                within(pool.prepared(), "prepared"),
                most > 0 ? most : memory.totalBytes() / POOL_SHARE,
                SLOTS_SPARE);
    }

    private static int hot(String text) {
        if (text.equals("auto")) {
            return PoolSettings.BY_DEMAND;
        }
        try {
            return within(Integer.parseInt(text), "hot");
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "space.node.pool.hot is a number or auto, not " + text, e);
        }
    }

    private static int within(int number, String key) {
        if (number < 0 || number > POOL_MAX) {
            throw new IllegalArgumentException(
                    "space.node.pool.%s is from 0 to %d, not %d".formatted(key, POOL_MAX, number));
        }
        return number;
    }

    private static void requireBtrfs(Path root) {
        try {
            if (!FileSystemType.isBtrfs(root)) {
                throw new IllegalArgumentException(
                        root
                                + " is not on btrfs, which the qemu engine needs: snapshots share"
                                + " blocks there");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Memory for sandboxes: as configured, or a share of the machine's. */
    static long memoryBytes(NodeConfig.Node node) {
        if (node.memoryMib() > 0) {
            return node.memoryMib() << 20;
        }
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemTotal:")) {
                    String digits = line.replaceAll("\\D", "");
                    long total = Long.parseLong(digits) << 10;
                    return total / MEMORY_DENOMINATOR * MEMORY_NUMERATOR;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("/proc/meminfo does not tell the machine's memory");
    }
}
