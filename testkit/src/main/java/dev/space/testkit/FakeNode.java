package dev.space.testkit;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.NodeActivities;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.contract.node.TakeSnapshot;
import dev.space.contract.node.UploadSnapshot;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A node without VMs: keeps fences as the real one does, and counts what would run. */
public final class FakeNode implements NodeActivities {

    /** A VM that runs, or has exited and left its disk. */
    public record Vm(
            SessionId session,
            OperationId operation,
            Fence start,
            @Nullable SnapshotId source,
            boolean running) {}

    private static final class Session {
        private Fence highest = new Fence(0, 0, 0);
        private @Nullable Vm vm;
        private long stops;
        private long presentEpoch;
        private @Nullable SnapshotId presentSource;
        private @Nullable SandboxStarted started;
        private final Map<SnapshotId, SnapshotTaken> snapshots = new LinkedHashMap<>();
    }

    private final String id;
    private final FaultyCalls calls;
    private final FakeBucket bucket;
    private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
    private final Map<String, Held> held = new ConcurrentHashMap<>();
    private boolean reachable = true;
    private int room = Integer.MAX_VALUE;

    /**
     * @param bucket the object store that all nodes share
     */
    public FakeNode(String id, Faults faults, FakeBucket bucket) {
        this.id = id;
        this.bucket = bucket;
        this.calls = new FaultyCalls(id, faults, ErrorCode.ENGINE_FAILED);
    }

    public String id() {
        return id;
    }

    // ------------------------------------------------------------ what a test sees and does

    /** While it is not, every call is lost. */
    public synchronized void reachable(boolean yes) {
        reachable = yes;
    }

    /** The machine is off for good: its VMs and the orders that are under way are gone. */
    public void off() {
        synchronized (this) {
            reachable = false;
            sessions.values().forEach(s -> s.vm = null);
        }
        calls.dropLate();
    }

    /** VMs that it has room for; a start beyond them is refused. */
    public synchronized void room(int vms) {
        room = vms;
    }

    public synchronized boolean reachable() {
        return reachable;
    }

    /** The next call of this step stops at the given point until it is released. */
    public Held hold(String step, Held.Point point) {
        Held gate = new Held(point);
        held.put(step, gate);
        return gate;
    }

    public synchronized @Nullable Vm vm(SessionId session) {
        Session s = sessions.get(session);
        return s == null ? null : s.vm;
    }

    public synchronized List<Vm> running() {
        List<Vm> all = new ArrayList<>();
        for (Session s : sessions.values()) {
            Vm vm = s.vm;
            if (vm != null && vm.running()) {
                all.add(vm);
            }
        }
        return all;
    }

    public synchronized List<SnapshotTaken> snapshots(SessionId session) {
        Session s = sessions.get(session);
        return s == null ? List.of() : List.copyOf(s.snapshots.values());
    }

    /** A copy makes room for others. */
    public synchronized void forget(SessionId session, SnapshotId snapshot) {
        Session s = sessions.get(session);
        if (s != null) {
            s.snapshots.remove(snapshot);
        }
    }

    /** The VM of the session ends by itself; answers the start that made it. */
    public synchronized @Nullable Fence exit(SessionId session) {
        Session s = sessions.get(session);
        Vm vm = s == null ? null : s.vm;
        if (s == null || vm == null || !vm.running()) {
            return null;
        }
        s.vm = new Vm(vm.session(), vm.operation(), vm.start(), vm.source(), false);
        return vm.start();
    }

    /** Calls that were delayed arrive now. */
    public void deliverLate() {
        calls.deliverLate();
    }

    // ------------------------------------------------------------ steps

    @Override
    public SandboxStarted startSandbox(StartSandbox request) {
        return step("start", request.ref(), s -> start(s, request));
    }

    @Override
    public SnapshotTaken pauseSandbox(TakeSnapshot request) {
        return step(
                "pause",
                request.ref(),
                s -> {
                    SnapshotTaken taken = take(s, request.ref(), request.snapshot());
                    if (s.vm != null && s.vm.start().epoch() == taken.epoch()) {
                        s.vm = null;
                    }
                    return taken;
                });
    }

    @Override
    public SnapshotTaken checkpointSandbox(TakeSnapshot request) {
        return step("checkpoint", request.ref(), s -> take(s, request.ref(), request.snapshot()));
    }

    @Override
    public @Nullable SnapshotTaken preserveDisk(PreserveDisk request) {
        return step("preserve", request.ref(), s -> preserve(s, request));
    }

    @Override
    public void endSandbox(EndSandbox request) {
        step(
                "end",
                request.ref(),
                s -> {
                    s.vm = null;
                    return s;
                });
    }

    @Override
    public void releaseSession(ReleaseSession request) {
        step(
                "release",
                request.ref(),
                s -> {
                    s.vm = null;
                    s.snapshots.clear();
                    return s;
                });
    }

    @Override
    public void deleteSnapshot(DeleteSnapshot request) {
        step(
                "delete snapshot",
                request.ref(),
                s -> {
                    s.snapshots.remove(request.snapshot());
                    return s;
                });
    }

    @Override
    public SnapshotUploaded uploadSnapshot(UploadSnapshot request) {
        return step(
                "upload",
                request.ref(),
                s -> {
                    if (!request.runs()) {
                        s.vm = null;
                    }
                    SnapshotTaken taken = s.snapshots.get(request.snapshot());
                    if (taken == null) {
                        throw new SpaceException(
                                ErrorCode.SNAPSHOT_NOT_FOUND, "no " + request.snapshot());
                    }
                    String session = request.ref().session().value();
                    String key = bucket.put(session, request.upload(), taken);
                    return new SnapshotUploaded(key, "digest of " + key, 512, 256, taken.bytes());
                });
    }

    @Override
    public SnapshotTaken downloadSnapshot(DownloadSnapshot request) {
        return step(
                "download",
                request.ref(),
                s -> {
                    SnapshotTaken there = s.snapshots.get(request.source().snapshot().id());
                    SnapshotTaken taken = there == null ? bucket.get(request.source()) : there;
                    s.snapshots.put(taken.snapshot(), taken);
                    return taken;
                });
    }

    @FunctionalInterface
    private interface Effect<T extends @Nullable Object> {
        T on(Session session);
    }

    private <T extends @Nullable Object> T step(String name, StepRef ref, Effect<T> effect) {
        Supplier<T> fenced =
                () -> {
                    synchronized (this) {
                        Session s = sessions.computeIfAbsent(ref.session(), _ -> new Session());
                        if (ref.fence().isStaleAgainst(s.highest)) {
                            throw new SpaceException(
                                    ErrorCode.STALE_FENCE, name + ": " + s.highest + " was here");
                        }
                        s.highest = ref.fence();
                        return effect.on(s);
                    }
                };
        synchronized (this) {
            if (!reachable) {
                throw io.temporal.failure.ApplicationFailure.newFailure(
                        id + " is cut off", ErrorCode.NODE_UNREACHABLE.name());
            }
        }
        Held gate = held.remove(name);
        return calls.call(name, gate == null ? fenced : gate.around(fenced));
    }

    private SandboxStarted start(Session s, StartSandbox request) {
        StepRef ref = request.ref();
        Vm there = s.vm;
        SandboxStarted earlier = s.started;
        boolean made =
                there != null
                        && there.operation().equals(ref.operation())
                        && there.start().epoch() == ref.fence().epoch();
        if (made && earlier != null) {
            return earlier;
        }
        SnapshotTaken newest = request.newest() ? newest(s, request.snapshot()) : null;
        SnapshotId source = newest == null ? request.snapshot() : newest.snapshot();
        SessionId origin = request.origin();
        boolean own = origin == null || s.snapshots.containsKey(source);
        Session owner = own ? s : sessions.get(origin);
        boolean missing =
                source == null
                        ? request.newest()
                        : owner == null || !owner.snapshots.containsKey(source);
        if (missing) {
            throw new SpaceException(ErrorCode.SNAPSHOT_NOT_FOUND, "no snapshot " + source);
        }
        if (running().size() >= room) {
            throw new SpaceException(ErrorCode.NO_CAPACITY, "the node is full");
        }
        s.stops = 0;
        s.presentEpoch = ref.fence().epoch();
        s.presentSource = source;
        s.vm = new Vm(ref.session(), ref.operation(), ref.fence(), source, true);
        SandboxStarted started = started(ref.fence().attempt(), newest);
        s.started = started;
        return started;
    }

    /** The rule of the real node: of the epoch that ran last, else what that began with. */
    private static @Nullable SnapshotTaken newest(Session s, @Nullable SnapshotId hint) {
        SnapshotTaken best = null;
        for (SnapshotTaken taken : s.snapshots.values()) {
            boolean present = taken.kind() == SnapshotKind.FULL && taken.epoch() == s.presentEpoch;
            if (present && (best == null || taken.stop() > best.stop())) {
                best = taken;
            }
        }
        if (best == null && s.presentSource != null) {
            best = s.snapshots.get(s.presentSource);
        }
        return best == null && hint != null ? s.snapshots.get(hint) : best;
    }

    private static SandboxStarted started(long attempt, @Nullable SnapshotTaken source) {
        return new SandboxStarted("fake", "cold", false, Map.of("load", 1L), attempt, source);
    }

    /** A checkpoint that the node makes by itself, and that nobody is told of. */
    public synchronized SnapshotTaken roll(SessionId session, SnapshotId id) {
        Session s = Objects.requireNonNull(sessions.get(session), "no such session here");
        Vm vm = Objects.requireNonNull(s.vm, "no VM runs");
        s.stops++;
        SnapshotTaken taken =
                new SnapshotTaken(
                        id, SnapshotKind.FULL, vm.start().epoch(), s.stops, 1024, 0, true, 100);
        s.snapshots.put(id, taken);
        return taken;
    }

    private static SnapshotTaken take(Session s, StepRef ref, SnapshotId id) {
        SnapshotTaken known = s.snapshots.get(id);
        if (known != null) {
            return known;
        }
        Vm vm = s.vm;
        if (vm == null
                || !vm.running()
                || vm.start().epoch() > ref.fence().epoch()
                || vm.operation().equals(ref.operation())) {
            throw new SpaceException(
                    ErrorCode.PRECONDITION_FAILED, "no VM runs that it could be of");
        }
        s.stops++;
        SnapshotTaken taken =
                new SnapshotTaken(
                        id, SnapshotKind.FULL, vm.start().epoch(), s.stops, 1024, 0, true, 100);
        s.snapshots.put(id, taken);
        return taken;
    }

    private static @Nullable SnapshotTaken preserve(Session s, PreserveDisk request) {
        SnapshotTaken known = s.snapshots.get(request.snapshot());
        if (known != null) {
            return known;
        }
        Vm dead = s.vm;
        if (dead == null || dead.start().epoch() >= request.ref().fence().epoch()) {
            return null; // what still runs of an older epoch is ended for it
        }
        SnapshotTaken taken =
                new SnapshotTaken(
                        request.snapshot(),
                        SnapshotKind.DISK,
                        dead.start().epoch(),
                        s.stops + 1,
                        512,
                        0,
                        false,
                        0);
        s.snapshots.put(request.snapshot(), taken);
        s.vm = null;
        return taken;
    }
}
