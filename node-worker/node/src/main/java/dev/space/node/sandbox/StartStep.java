package dev.space.node.sandbox;

import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.StartSandbox;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.ProcessTable;
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.StartIds;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.templates.StartFiles;
import dev.space.node.templates.TemplateInfo;
import dev.space.node.volumes.SnapshotManifest;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the sandbox of an epoch. */
final class StartStep {

    private static final Logger LOG = LoggerFactory.getLogger(StartStep.class);

    /** Free space that a new sandbox must find beside the reserve. */
    private static final long ROOM_BYTES = 64L << 20;

    private final NodeParts parts;
    private final VmEnds ends;

    StartStep(NodeParts parts, VmEnds ends) {
        this.parts = parts;
        this.ends = ends;
    }

    /** Where the VM comes from. */
    private record Plan(
            LiveFiles.Source source,
            String bundle,
            GuestToken token,
            boolean memoryLost,
            TemplateInfo template) {}

    SandboxStarted start(Session session, StartSandbox request) {
        return session.fenced(request.ref(), () -> startAlone(session, request));
    }

    private SandboxStarted startAlone(Session session, StartSandbox request) {
        var before = session.record().result(request.ref().operation(), StepResult.START);
        if (before.isPresent() && before.get().started() != null) {
            return before.get().started();
        }
        if (session.record().live() != null) {
            session.save(ends.end(session).withoutStartResults());
        }
        long begin = System.nanoTime();
        parts.volume().requireSpace(ROOM_BYTES);
        SnapshotTaken newest = request.newest() ? newest(session, request.snapshot()) : null;
        SnapshotId source = newest == null ? request.snapshot() : newest.snapshot();
        Plan plan = plan(request, source);
        session.yieldTo(request.ref().fence());
        parts.memory().reserve(session.id(), request.size());
        Slot slot;
        try {
            slot = parts.engine().acquireSlot();
        } catch (RuntimeException e) {
            parts.memory().free(session.id());
            throw e;
        }
        VmRecord vm =
                new VmRecord(session.id(), slot, StartIds.next(), plan.bundle(), request.size());
        Fence fence = request.ref().fence();
        LiveVm live =
                LiveVm.starting(
                        fence,
                        request.ref().operation(),
                        vm,
                        request.template(),
                        parts.clock().millis());
        session.save(session.record().withLive(live));
        parts.crash().at("start.journaled");
        try {
            return run(session, request, plan, live, begin, newest);
        } catch (SimulatedCrash e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.warn("start of {} under {} failed", session.id(), fence, e);
            session.save(ends.end(session));
            throw e;
        }
    }

    private SandboxStarted run(
            Session session,
            StartSandbox request,
            Plan plan,
            LiveVm live,
            long begin,
            @Nullable SnapshotTaken newest) {
        SnapshotId from = newest == null ? request.snapshot() : newest.snapshot();
        GuestToken token = GuestToken.fresh();
        VmFiles files =
                parts.liveFiles()
                        .make(
                                session.live(),
                                plan.source(),
                                live.vm().slot(),
                                request.size(),
                                token);
        final long cloned = System.nanoTime();
        parts.crash().at("start.files");
        GuestIdentity identity =
                new GuestIdentity(
                        request.hostname(),
                        request.maxProcesses(),
                        plan.template().user(),
                        request.origin() != null);
        boolean restore = plan.source().memory();
        Vm vm =
                parts.engine()
                        .start(
                                new VmStart(
                                        live.vm(),
                                        files,
                                        restore,
                                        plan.token(),
                                        token,
                                        identity,
                                        parts.permit()));
        parts.crash().at("start.running");
        Sandbox sandbox;
        try {
            ProcessTable processes =
                    ProcessTable.open(LiveFiles.processes(session.live()), vm.guest());
            sandbox = new Sandbox(session.id(), live.start(), vm, processes);
        } catch (RuntimeException e) {
            vm.end();
            throw e;
        }
        session.setSandbox(sandbox);
        Map<String, Long> phases = new TreeMap<>(vm.phaseMicros());
        phases.put("files", (cloned - begin) / 1000);
        phases.put("total", (System.nanoTime() - begin) / 1000);
        SandboxStarted started =
                new SandboxStarted(
                        parts.engine().info().name(),
                        restore ? "cold" : "boot",
                        plan.memoryLost(),
                        phases,
                        live.start().attempt(),
                        newest);
        session.save(
                session.record()
                        .withLive(live.running())
                        .withPresent(new Present(live.start().epoch(), from))
                        .withResult(
                                new StepResult(
                                        request.ref().operation(),
                                        StepResult.START,
                                        started,
                                        null)));
        ends.watch(session, live.start(), vm);
        return started;
    }

    /**
     * The newest complete checkpoint of the present: of the epoch that ran last, else what that
     * began with, else what the control plane knows.
     */
    private SnapshotTaken newest(Session session, @Nullable SnapshotId known) {
        Present present = session.record().present();
        SnapshotTaken best = null;
        if (present != null) {
            best =
                    parts.snapshots().list(session.id()).stream()
                            .map(SnapshotManifest::taken)
                            .filter(taken -> taken.kind() == SnapshotKind.FULL)
                            .filter(taken -> taken.epoch() == present.epoch())
                            .max(Comparator.comparingLong(SnapshotTaken::stop))
                            .orElse(null);
        }
        for (SnapshotId other : others(present, known)) {
            if (best == null) {
                best =
                        parts.snapshots()
                                .find(session.id(), other)
                                .map(SnapshotManifest::taken)
                                .orElse(null);
            }
        }
        if (best == null) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND, "no checkpoint of the session is here");
        }
        return best;
    }

    private static List<SnapshotId> others(@Nullable Present present, @Nullable SnapshotId known) {
        return Stream.of(
                        Optional.ofNullable(present).map(Present::source),
                        Optional.ofNullable(known))
                .flatMap(Optional::stream)
                .toList();
    }

    private Plan plan(StartSandbox request, @Nullable SnapshotId snapshot) {
        TemplateInfo template = parts.templates().info(request.template());
        if (snapshot == null) {
            StartFiles start = parts.templates().start(request.template(), request.size());
            return new Plan(
                    source(start.directory(), true),
                    start.bundle(),
                    start.token(),
                    false,
                    template);
        }
        SessionId owner = owner(request, snapshot);
        SnapshotManifest manifest = parts.snapshots().require(owner, snapshot);
        Path directory = parts.snapshots().directory(owner, snapshot);
        boolean full = manifest.taken().kind() == SnapshotKind.FULL;
        boolean usable =
                full
                        && manifest.token() != null
                        && manifest.size() == request.size()
                        && manifest.engine().equals(parts.engine().info().name())
                        && parts.engine().hasBundle(manifest.bundle());
        if (usable && manifest.token() != null) {
            return new Plan(
                    source(directory, true), manifest.bundle(), manifest.token(), false, template);
        }
        String own = parts.engine().bundle(template.bundle());
        String bundle = parts.engine().hasBundle(own) ? own : parts.engine().info().bundleDigest();
        return new Plan(source(directory, false), bundle, GuestToken.fresh(), full, template);
    }

    /** A child starts from its source's snapshot, or from what was fetched for it. */
    private SessionId owner(StartSandbox request, SnapshotId snapshot) {
        SessionId own = request.ref().session();
        SessionId origin = request.origin();
        boolean fetched = parts.snapshots().find(own, snapshot).isPresent();
        return origin == null || fetched ? own : origin;
    }

    private static LiveFiles.Source source(Path directory, boolean memory) {
        return new LiveFiles.Source(directory, directory.resolve("disk"), memory);
    }
}
