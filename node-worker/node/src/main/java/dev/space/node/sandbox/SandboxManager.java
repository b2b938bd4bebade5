package dev.space.node.sandbox;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.EndSandbox;
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
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.node.egress.NetworkPolicy;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.volumes.SnapshotManifest;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sandboxes of this node: the truth about what runs here. */
public final class SandboxManager implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SandboxManager.class);

    private final NodeParts parts;
    private final VmEnds ends;
    private final StartStep start;
    private final SnapshotStep snapshot;
    private final RollingStep rolling;
    private final TransferStep transfer;
    private final Tombstones tombstones;
    private volatile boolean closing;
    private final ConcurrentHashMap<SessionId, Session> sessions = new ConcurrentHashMap<>();

    public SandboxManager(NodeParts parts) {
        this.parts = parts;
        this.ends = new VmEnds(parts);
        this.start = new StartStep(parts, ends);
        this.snapshot = new SnapshotStep(parts, ends);
        this.rolling = new RollingStep(parts, snapshot);
        this.transfer = new TransferStep(parts, ends, () -> closing);
        this.tombstones = new Tombstones(parts.stateDirectory());
    }

    /** Adopts what runs, then removes what is nobody's. Call once, before anything else. */
    public void open() {
        Adoption adoption = new Adoption(parts, ends);
        List<VmRecord> known = new ArrayList<>();
        List<Path> strangers = new ArrayList<>();
        for (Path directory : Volume.children(parts.volume().sessions())) {
            SessionId id = Adoption.sessionOf(directory.getFileName().toString());
            Journal journal = id == null ? null : openJournal(directory);
            if (id == null || journal == null) {
                strangers.add(directory);
                continue;
            }
            Session session = new Session(id, parts.volume(), journal, journal.last().highest());
            sessions.put(id, session);
            VmRecord vm = adoption.adopt(session);
            if (vm != null) {
                known.add(vm);
            }
        }
        parts.engine().releaseAllBut(known);
        strangers.forEach(parts.volume()::discard);
        parts.volume().emptyStagingAndTrash();
        tombstones.sweep(parts.clock().instant());
        LOG.info("{} sessions here, {} sandboxes run", sessions.size(), known.size());
    }

    private @Nullable Journal openJournal(Path directory) {
        try {
            return Journal.open(directory);
        } catch (IOException e) {
            throw parts.volume().failed("read the journal in " + directory, e);
        }
    }

    /** Runs a step on its session; one that was released meanwhile is looked up again. */
    private <T extends @Nullable Object> T on(SessionId id, Function<Session, T> step) {
        while (true) {
            Session session = sessions.computeIfAbsent(id, this::unknown);
            try {
                return step.apply(session);
            } catch (SessionClosedException e) {
                sessions.remove(id, session);
            }
        }
    }

    private Session unknown(SessionId id) {
        Fence buried = tombstones.find(id);
        return new Session(id, parts.volume(), null, buried == null ? new Fence(0, 0, 0) : buried);
    }

    public SandboxStarted start(StartSandbox request) {
        if (request.snapshot() == null && !request.newest()) {
            // Outside of the session's lock: making a template takes long.
            parts.templates().start(request.template(), request.size());
        }
        try (ReadyVms.Busy _ = parts.ready().busy()) {
            return on(request.ref().session(), s -> start.start(s, request));
        }
    }

    /** True when a start need not wait for a template. */
    public boolean canStartAtOnce(StartSandbox request) {
        return request.snapshot() != null
                || request.newest()
                || parts.templates().isReady(request.template(), request.size());
    }

    public SnapshotTaken pause(TakeSnapshot request) {
        return on(
                request.ref().session(),
                s -> snapshot.take(s, request.ref(), request.snapshot(), true));
    }

    public SnapshotTaken checkpoint(TakeSnapshot request) {
        return on(
                request.ref().session(),
                s -> snapshot.take(s, request.ref(), request.snapshot(), false));
    }

    /** Null when no disk of a dead sandbox is here. */
    public @Nullable SnapshotTaken preserveDisk(PreserveDisk request) {
        return this.<@Nullable SnapshotTaken>on(
                request.ref().session(),
                s -> snapshot.preserveDisk(s, request.ref(), request.snapshot()));
    }

    public void end(EndSandbox request) {
        LOG.info("end of {}: {}", request.ref().session(), request.reason());
        on(request.ref().session(), s -> s.fenced(request.ref(), () -> endAlone(s)));
    }

    private Boolean endAlone(Session session) {
        // An end that finds nothing still fences: a start of before may be on its way.
        session.save(ends.end(session).withoutStartResults());
        return true;
    }

    public void release(ReleaseSession request) {
        SessionId id = request.ref().session();
        on(id, s -> s.fenced(request.ref(), () -> releaseAlone(s)));
    }

    private Boolean releaseAlone(Session session) {
        ends.end(session);
        parts.crash().at("release.ended");
        tombstones.write(session.id(), session.record().highest());
        parts.crash().at("release.buried");
        parts.volume().discard(session.directory());
        parts.snapshots().forget(session.id());
        session.close();
        sessions.remove(session.id(), session);
        return true;
    }

    public void deleteSnapshot(DeleteSnapshot request) {
        SessionId id = request.ref().session();
        on(
                id,
                s ->
                        s.<Boolean>fenced(
                                request.ref(),
                                () -> {
                                    parts.snapshots().delete(id, request.snapshot());
                                    return true;
                                }));
    }

    /** To the object store; ends early when a higher fence comes. */
    public SnapshotUploaded upload(UploadSnapshot request, TransferProgress progress) {
        return on(request.ref().session(), s -> transfer.upload(s, request, progress));
    }

    /** True when a step of a higher fence is there, at work or waiting for the one that is. */
    boolean isOvertaken(StepRef ref) {
        Session session = sessions.get(ref.session());
        return session != null && session.isOvertaken(ref.fence());
    }

    /** From the object store; ends early when a higher fence comes. */
    public SnapshotTaken download(DownloadSnapshot request, TransferProgress progress) {
        // Outside of the session's lock: bringing a template here may take a while.
        parts.templates().root(request.template());
        return on(request.ref().session(), s -> transfer.download(s, request, progress));
    }

    /** The sessions' snapshots as the node's own schedule and retention see them. */
    public RollingView rolling() {
        return new RollingView(parts, rolling, sessions);
    }

    /**
     * The control plane's word that a session is at this epoch: whatever is older ends here. A
     * newer one is left alone.
     */
    public void endOlderThan(SessionId id, long epoch) {
        Session session = sessions.get(id);
        if (session == null) {
            return;
        }
        LiveVm live = session.record().live();
        if (live == null || live.start().epoch() >= epoch) {
            return;
        }
        LOG.warn("{} is at epoch {}; ending {}", id, epoch, live.start());
        session.<Boolean>alone(() -> {
            LiveVm now = session.record().live();
            if (now == null || now.start().epoch() >= epoch || session.isClosed()) {
                return false;
            }
            session.save(session.record().seen(new Fence(epoch, 0, 0)));
            // Its disk stays until a newer operation decides.
            if (now.phase() != LiveVm.Phase.DEAD) {
                ends.killKeepingDisk(session, now);
            }
            return true;
        });
    }

    /** What a session may reach from now on. */
    public void setEgress(SessionId id, long epoch, NetworkPolicy policy) {
        Sandbox sandbox = running(id, epoch);
        parts.egress().set(sandbox.session(), epoch, policy);
    }

    /** The running sandbox of this epoch, or {@code STALE_FENCE}: then the caller looks again. */
    public Sandbox running(SessionId id, long epoch) {
        Session session = sessions.get(id);
        Sandbox sandbox = session == null ? null : session.sandbox();
        if (sandbox == null || sandbox.start().epoch() != epoch) {
            throw new SpaceException(
                    ErrorCode.STALE_FENCE,
                    "no sandbox of epoch " + epoch + " runs here; look the session up again");
        }
        return sandbox;
    }

    /** What is known of one session. */
    public record Status(
            SessionId session,
            Fence highest,
            long runningEpoch,
            String state,
            long memoryBytes,
            long diskBytes,
            List<SnapshotManifest> snapshots) {

        public Status {
            snapshots = List.copyOf(snapshots);
        }
    }

    /**
     * What is known of sessions now.
     *
     * @param only null: every session, without its snapshots: there may be very many
     */
    public List<Status> inspect(@Nullable SessionId only) {
        return sessions.values().stream()
                .filter(s -> only == null || s.id().equals(only))
                .sorted(Comparator.comparing(s -> s.id().value()))
                .map(s -> status(s, only != null))
                .toList();
    }

    private Status status(Session session, boolean withSnapshots) {
        SessionRecord record = session.record();
        LiveVm live = record.live();
        boolean runs = session.sandbox() != null && live != null;
        long epoch = runs && live != null ? live.start().epoch() : 0;
        List<SnapshotManifest> taken =
                withSnapshots ? rolling().snapshots(session.id()) : List.of();
        long memory = live == null || !runs ? 0 : (long) live.vm().size().memoryMiB() << 20;
        long disk = live == null ? 0 : (long) live.vm().size().diskMiB() << 20;
        return new Status(
                session.id(), record.highest(), epoch, stateName(live), memory, disk, taken);
    }

    private static String stateName(@Nullable LiveVm live) {
        if (live == null) {
            return "NONE";
        }
        return switch (live.phase()) {
            case STARTING -> "STARTING";
            case RUNNING -> "RUNNING";
            case STOPPING, ENDING -> "STOPPED";
            case DEAD -> "DEAD";
        };
    }

    /** Running sandboxes, for figures and activity. */
    public List<Sandbox> sandboxes() {
        List<Sandbox> running = new ArrayList<>();
        for (Session session : sessions.values()) {
            Sandbox sandbox = session.sandbox();
            if (sandbox != null) {
                running.add(sandbox);
            }
        }
        return running;
    }

    /** For periodic work. */
    public void sweep() {
        tombstones.sweep(parts.clock().instant());
    }

    /** For periodic work: ends that failed half-way, for instance while node-manager was away. */
    public void finishEnds() {
        for (Session session : sessions.values()) {
            LiveVm live = session.record().live();
            if (live != null && live.phase() == LiveVm.Phase.ENDING) {
                ends.finish(session);
            }
        }
    }

    /** Lets go of every VM without ending it: they outlive this process. */
    @Override
    public void close() {
        closing = true;
        for (Session session : sessions.values()) {
            session.<Boolean>alone(() -> {
                Sandbox sandbox = session.sandbox();
                session.setSandbox(null);
                if (sandbox != null) {
                    sandbox.processes().flush();
                    sandbox.processes().close();
                    sandbox.vm().detach();
                }
                session.close();
                return true;
            });
        }
    }
}
