package dev.space.node.app;

import dev.space.model.SessionId;
import dev.space.node.api.BrowseService;
import dev.space.node.api.DataPlaneService;
import dev.space.node.api.LifecycleService;
import dev.space.node.api.NodeActivitiesImpl;
import dev.space.node.api.TokenInterceptor;
import dev.space.node.browse.DiskReader;
import dev.space.node.browse.Disks;
import dev.space.node.config.NodeConfig;
import dev.space.node.dataplane.Audit;
import dev.space.node.egress.Egress;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.guard.DiskGuard;
import dev.space.node.guard.DiskLines;
import dev.space.node.guard.Guarded;
import dev.space.node.pool.PoolCounts;
import dev.space.node.pool.WarmPool;
import dev.space.node.reports.ControlPlane;
import dev.space.node.reports.ExitReports;
import dev.space.node.reports.GrpcControlPlane;
import dev.space.node.reports.Lease;
import dev.space.node.reports.Outbox;
import dev.space.node.reports.Reporter;
import dev.space.node.sandbox.CrashPoints;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.sandbox.NodeParts;
import dev.space.node.sandbox.ObjectStore;
import dev.space.node.sandbox.SandboxManager;
import dev.space.node.templates.TemplateStore;
import dev.space.node.volumes.SnapshotStore;
import dev.space.node.volumes.Volume;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole process. Start-up order: what runs is adopted, then the doors open, then templates are
 * prepared, then the control plane is told.
 */
public final class NodeProcess implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NodeProcess.class);

    private static final int MESSAGE_BYTES_MAX = 4 << 20;

    /** A disk takes some 100 MB in this time at most, a fraction of the reserve. */
    private static final Duration GUARD_LOOK = Duration.ofMillis(100);

    private static final Duration GUARD_END_MAX = Duration.ofSeconds(6);

    private final Wiring wiring;
    private final Outbox outbox;
    private final SnapshotStore snapshots;
    private final Egress egress;
    private final SandboxManager manager;
    private final Server api;
    private final HealthServer health;
    private final Preparation preparation;
    private final WarmPool pool;
    private final Housekeeping housekeeping;
    private final Rolling rolling;
    private final Optional<Publishing> publishing;
    private final Rounds guard = new Rounds("disk guard", 1, GUARD_END_MAX);
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    private final boolean reports;
    private final Lease lease;
    private final @Nullable Reporter reporter;
    private final @Nullable TemporalWorker temporal;

    public NodeProcess(NodeConfig config) throws IOException {
        this(config, new FakeMachine());
    }

    /** With what VMs of a fake engine run on; a real one has the machine itself. */
    NodeProcess(NodeConfig config, FakeMachine machine) throws IOException {
        NodeConfig.Node node = config.node();
        reports = config.control().url().isPresent();
        lease = reports ? Lease.fromControlPlane() : Lease.notNeeded();
        TokenFile token = new TokenFile(node.tokenFile());
        token.get();
        Clock clock = Clock.systemUTC();
        outbox = new Outbox(node.stateDir().resolve("outbox"), clock, node.outboxMib() << 20);
        MemoryBudget memory = new MemoryBudget(Wiring.memoryBytes(node));
        ControlPlane control =
                config.control().url().map(url -> new GrpcControlPlane(url, token)).orElse(null);
        ObjectStore objects = Wiring.objects(config, control);
        TemplateStore stored = Wiring.templates(config, objects, control);
        wiring = Wiring.of(node, memory, stored, machine);
        egress = Wiring.egress(node, control, outbox);
        snapshots = new SnapshotStore(wiring.volume());
        preparation = new Preparation(wiring.templates(), node.prepare());
        pool = wiring.pool(Wiring.pool(node, memory, preparation), memory);
        manager =
                new SandboxManager(
                        new NodeParts(
                                wiring.engine(),
                                wiring.volume(),
                                snapshots,
                                wiring.liveFiles(),
                                wiring.templates(),
                                objects,
                                memory,
                                pool,
                                egress,
                                new ExitReports(outbox),
                                () -> lease.demand(Duration.ZERO),
                                CrashPoints.NONE,
                                clock,
                                node.stateDir()));
        adopt();
        PrometheusMeterRegistry registry = metrics(memory);
        health =
                new HealthServer(
                        new InetSocketAddress(node.bindAddress(), node.httpPort()),
                        this::waitsFor,
                        registry);
        api = serve(node, token, memory);
        preparation.start();
        pool.start();
        String address = node.apiAddress().orElse(node.bindAddress() + ":" + api.getPort());
        Figures figures = new Figures(node, wiring, memory, pool, address);
        housekeeping = Housekeeping.started(manager, outbox);
        guard.every(GUARD_LOOK, guard()::look);
        publishing = publishing(stored);
        rolling = Rolling.started(node, manager.rolling(), outbox, wiring.volume(), registry);
        reporter = control == null ? null : reporter(control, node.id(), figures);
        temporal =
                config.temporal()
                        .target()
                        .map(target ->
                                new TemporalWorker(
                                        target,
                                        config.temporal().namespace(),
                                        node.id(),
                                        new NodeActivitiesImpl(manager, lease)))
                        .orElse(null);
        if (reporter != null) {
            reporter.start();
        }
        if (temporal != null) {
            temporal.start();
        }
        LOG.info("node {} serves on ports {} and {}", node.id(), api.getPort(), health.port());
    }

    /** What runs goes on; then the gateway is told of it. */
    private void adopt() {
        manager.open();
        egress.start();
    }

    private Optional<Publishing> publishing(TemplateStore stored) {
        return wiring.published()
                .filter(_ -> !stored.equals(TemplateStore.NONE))
                .map(own -> Publishing.started(own, stored, pool::isServing));
    }

    private DiskGuard guard() {
        Volume volume = wiring.volume();
        return new DiskGuard(
                DiskLines.of(volume.reserveBytes()),
                volume::freeBytes,
                () ->
                        manager.sandboxes().stream()
                                .<Guarded>map(sandbox -> new GuardedSandbox(sandbox, volume))
                                .toList(),
                outbox,
                System::nanoTime);
    }

    private Reporter reporter(ControlPlane control, String id, Figures figures) {
        return new Reporter(
                control, outbox, id, figures::registration, figures::renewal, this::told, lease);
    }

    /** What the control plane says of a session with every lease. */
    private void told(SessionId session, long epoch, long networkVersion) {
        manager.endOlderThan(session, epoch);
        egress.newest(session, networkVersion);
    }

    /**
     * Before the control plane knows this node and its templates it is of no use. Empty when
     * nothing is waited for.
     */
    private String waitsFor() {
        Reporter toControl = reporter;
        boolean unknown = reports && (toControl == null || !toControl.isKnown());
        String prepares = preparation.waitsFor();
        return prepares.isEmpty() && unknown ? "the control plane to register it" : prepares;
    }

    private Server serve(NodeConfig.Node node, TokenFile token, MemoryBudget memory)
            throws IOException {
        return NettyServerBuilder.forAddress(
                        new InetSocketAddress(node.bindAddress(), node.apiPort()))
                .executor(calls)
                .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                .intercept(new TokenInterceptor(token))
                .addService(
                        new LifecycleService(
                                node.id(),
                                manager,
                                wiring.templates(),
                                wiring.volume(),
                                memory,
                                pool,
                                lease))
                .addService(new DataPlaneService(manager, new Audit(outbox)))
                .addService(
                        new BrowseService(
                                new Disks(manager, snapshots, wiring.templates(), wiring.volume()),
                                node.reader().map(DiskReader::new).orElse(null)))
                .build()
                .start();
    }

    private PrometheusMeterRegistry metrics(MemoryBudget memory) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Gauge.builder("space.node.sandboxes", manager, m -> m.sandboxes().size())
                .description("Sandboxes that run")
                .register(registry);
        Gauge.builder("space.node.slots.free", wiring.engine(), e -> e.freeSlots())
                .register(registry);
        Gauge.builder("space.node.memory.free.bytes", memory, MemoryBudget::freeBytes)
                .register(registry);
        Gauge.builder("space.node.disk.free.bytes", wiring.volume(), v -> v.freeBytes())
                .register(registry);
        Gauge.builder("space.node.outbox.reports", outbox, Outbox::size)
                .description("Reports that are not acknowledged")
                .register(registry);
        Gauge.builder("space.node.outbox.dropped", outbox, Outbox::dropped)
                .description("Reports that were dropped because the outbox was full")
                .register(registry);
        Gauge.builder("space.node.gateway.connected", egress, e -> e.isConnected() ? 1 : 0)
                .description("Whether the network gateway's events arrive")
                .register(registry);
        Gauge.builder("space.node.gateway.bound", egress, Egress::boundCount)
                .description("Sandboxes whose network the gateway knows")
                .register(registry);
        poolMetrics(registry);
        return registry;
    }

    private void poolMetrics(PrometheusMeterRegistry registry) {
        Gauge.builder("space.node.pool.hot", pool, WarmPool::hotCount)
                .description("VMs that wait for a session, loaded and run once")
                .register(registry);
        Gauge.builder("space.node.pool.target", pool, WarmPool::targetCount)
                .description("Hot VMs that there are to be")
                .register(registry);
        Gauge.builder("space.node.pool.prepared", pool, WarmPool::preparedCount)
                .description("VMMs that wait for a snapshot to load")
                .register(registry);
        PoolCounts counts = pool.counts();
        counter(registry, "space.node.pool.made", counts, PoolCounts::allMade);
        counter(registry, "space.node.pool.failed", counts, PoolCounts::allFailed);
        counter(registry, "space.node.pool.discarded", counts, PoolCounts::allDiscarded);
        counter(registry, "space.node.pool.taken.hot", counts, PoolCounts::allTakenHot);
        counter(registry, "space.node.pool.taken.prepared", counts, PoolCounts::allTakenPrepared);
    }

    private static void counter(
            PrometheusMeterRegistry registry,
            String name,
            PoolCounts counts,
            ToDoubleFunction<PoolCounts> figure) {
        FunctionCounter.builder(name, counts, figure).register(registry);
    }

    public int apiPort() {
        return api.getPort();
    }

    public int httpPort() {
        return health.port();
    }

    public void awaitEnd() throws InterruptedException {
        api.awaitTermination();
    }

    /** Stops serving; sandboxes run on. */
    @Override
    public void close() {
        if (temporal != null) {
            temporal.close();
        }
        if (reporter != null) {
            reporter.close();
        }
        api.shutdownNow();
        egress.close();
        guard.close();
        rolling.close();
        publishing.ifPresent(Publishing::close);
        housekeeping.close();
        pool.close();
        manager.close();
        wiring.engine().close();
        health.close();
        outbox.close();
        calls.close();
    }
}
