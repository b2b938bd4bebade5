package dev.space.node.sandbox;

import com.google.protobuf.ByteString;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.contract.node.TakeSnapshot;
import dev.space.durable.DurableStore;
import dev.space.durable.LineageKey;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.node.egress.Egress;
import dev.space.node.engine.fake.FakeEngine;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.engine.fake.FaultPlan;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.engine.spi.StartPermit;
import dev.space.node.pool.PoolSettings;
import dev.space.node.pool.WarmPool;
import dev.space.node.templates.FakeTemplates;
import dev.space.node.volumes.CopyCloner;
import dev.space.node.volumes.SnapshotStore;
import dev.space.node.volumes.Volume;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A node on the fake engine that can be closed and opened again on the same machine and disk. */
final class TestNode {

    static final SessionId SESSION = new SessionId(Ids.text("ses", new byte[16]));

    private final Path directory;
    private final ObjectStore objects;
    final FakeMachine machine = new FakeMachine();
    final List<String> reports = Collections.synchronizedList(new ArrayList<>());
    FaultPlan faults = FaultPlan.NONE;
    StartPermit permit = StartPermit.ALWAYS;
    int slots = 4;
    long memoryBytes = 8L << 30;
    private @Nullable String crashAt;
    private @Nullable String failAt;
    private PoolSettings settings = new PoolSettings(List.of(), 0, 0, 0, 0);
    private SandboxManager manager;
    private WarmPool pool;
    private FakeTemplates templates;
    private MemoryBudget memory;
    private SnapshotStore snapshots;

    TestNode(Path directory) {
        this(directory, ObjectStore.NONE);
    }

    /** With an object store, under a key that is the same for every session. */
    TestNode(Path directory, DurableStore store) {
        this(directory, new ObjectStore(store, _ -> new LineageKey(new byte[LineageKey.BYTES])));
    }

    private TestNode(Path directory, ObjectStore objects) {
        this.directory = directory;
        this.objects = objects;
        Volume volume = volume();
        this.snapshots = new SnapshotStore(volume);
        this.templates = new FakeTemplates(volume);
        this.memory = new MemoryBudget(memoryBytes);
        Engine engine = engine();
        this.pool = pool(engine, volume);
        this.manager = open(engine, volume);
    }

    private Engine engine() {
        return new FakeEngine(machine, faults, Clock.systemUTC(), slots);
    }

    private WarmPool pool(Engine engine, Volume volume) {
        WarmPool made =
                new WarmPool(
                        settings, templates, engine, volume, new LiveFiles(volume, false), memory);
        memory.onShortage(made::giveUpOne);
        return made;
    }

    private Volume volume() {
        return new Volume(directory.resolve("main"), new CopyCloner(), 0);
    }

    private SandboxManager open(Engine engine, Volume volume) {
        SandboxManager made =
                new SandboxManager(
                        new NodeParts(
                                engine,
                                volume,
                                snapshots,
                                new LiveFiles(volume, false),
                                templates,
                                objects,
                                memory,
                                pool,
                                Egress.none(),
                                (session, start, exit) ->
                                        reports.add(start.epoch() + " " + exit.reason()),
                                () -> permit.demand(),
                                this::crash,
                                new Rising(),
                                directory.resolve("state")));
        made.open();
        pool.start();
        return made;
    }

    private void crash(String where) {
        onPlace.accept(where);
        if (where.equals(crashAt)) {
            crashAt = null;
            throw new SimulatedCrash(where);
        }
        if (where.equals(failAt)) {
            failAt = null;
            throw new SpaceException(ErrorCode.ENGINE_FAILED, "failure made at " + where);
        }
    }

    void crashAt(String where) {
        crashAt = where;
    }

    /** An ordinary failure there, once; the process lives on. */
    void failAt(String where) {
        failAt = where;
    }

    boolean crashed() {
        return crashAt == null;
    }

    /** Called at each named place inside the steps, before a crash or failure there. */
    Consumer<String> onPlace = where -> {};

    SnapshotStore snapshots() {
        return snapshots;
    }

    SandboxManager manager() {
        return manager;
    }

    Path directory() {
        return directory;
    }

    /** As if the process had been killed: nothing is closed but what the kernel would close. */
    void restart() {
        pool.close();
        manager.close();
        Volume volume = volume();
        snapshots = new SnapshotStore(volume);
        templates = new FakeTemplates(volume);
        memory = new MemoryBudget(memoryBytes);
        Engine engine = engine();
        pool = pool(engine, volume);
        manager = open(engine, volume);
    }

    /** The node again, with VMs that wait for sessions of the default template. */
    void restartWithPool(int hot, int prepared) {
        settings =
                new PoolSettings(
                        List.of(new PoolSettings.Start("default", Size.XS)),
                        hot,
                        prepared,
                        memoryBytes,
                        2);
        restart();
    }

    void restartWithoutPool() {
        settings = new PoolSettings(List.of(), 0, 0, 0, 0);
        restart();
    }

    /** Ends the pool as the process's end does. */
    void closePool() {
        pool.close();
    }

    WarmPool pool() {
        return pool;
    }

    FakeTemplates templates() {
        return templates;
    }

    MemoryBudget memory() {
        return memory;
    }

    static StepRef ref(int operation, long epoch, long number, long attempt) {
        return new StepRef(SESSION, operation(operation), new Fence(epoch, number, attempt));
    }

    static OperationId operation(int n) {
        return new OperationId(Ids.text("op", id(n)));
    }

    static SnapshotId snapshot(int n) {
        return new SnapshotId(Ids.text("snp", id(n)));
    }

    private static byte[] id(int n) {
        byte[] bytes = new byte[16];
        Arrays.fill(bytes, (byte) n);
        return bytes;
    }

    static StartSandbox start(StepRef ref, @Nullable SnapshotId snapshot) {
        return new StartSandbox(
                ref, FakeTemplates.DEFAULT_DIGEST, Size.XS, snapshot, null, "box", 5);
    }

    static TakeSnapshot take(StepRef ref, SnapshotId snapshot) {
        return new TakeSnapshot(ref, snapshot);
    }

    static ProcessStart command(String id, String line) {
        return new ProcessStart(
                id,
                List.of(),
                ByteString.copyFromUtf8(line),
                Map.of(),
                ByteString.EMPTY,
                "",
                0,
                false);
    }

    String state() {
        return manager.inspect(SESSION).isEmpty()
                ? "ABSENT"
                : manager.inspect(SESSION).getFirst().state();
    }

    static String text(ByteString bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** The time of day, but never the same millisecond twice: snapshots keep their order. */
    private static final class Rising extends Clock {
        private final AtomicLong last = new AtomicLong();

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            long now = System.currentTimeMillis();
            return Instant.ofEpochMilli(last.updateAndGet(before -> Math.max(before + 1, now)));
        }
    }
}
