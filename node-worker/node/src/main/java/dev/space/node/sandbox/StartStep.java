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
import dev.space.node.egress.Egress;
import dev.space.node.egress.SyntheticAddress;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
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
    private final Rungs rungs;

    StartStep(NodeParts parts, VmEnds ends) {
        this.parts = parts;
        this.ends = ends;
        this.rungs = new Rungs(parts);
    }

    /**
     * Where the VM comes from.
     *
     * @param fresh the template's start snapshot, when it is that
     * @param addresses names that the guest may know by an address of before
     */
    record Plan(
            LiveFiles.Source source,
            String bundle,
            GuestToken token,
            boolean memoryLost,
            TemplateInfo template,
            @Nullable StartFiles fresh,
            List<SyntheticAddress> addresses) {

        Plan {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * All that one start is about.
     *
     * @param newest what the node chose to start from, when it was left to it
     */
    record Start(
            Session session,
            StartSandbox request,
            Plan plan,
            long begin,
            @Nullable SnapshotTaken newest) {}

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
        Fence fence = request.ref().fence();
        session.yieldTo(fence);
        Start start = new Start(session, request, plan, begin, newest);
        Rung rung = rungs.best(start);
        while (true) {
            try {
                return run(start, rung);
            } catch (SimulatedCrash e) {
                throw e;
            } catch (RuntimeException e) {
                LOG.warn("{} start of {} under {} failed", rung.name(), session.id(), fence, e);
                undo(session, rung);
                if (rung.name().equals(Rung.COLD)) {
                    throw e;
                }
            }
            session.yieldTo(fence);
            parts.permit().demand(); // what has ended ends every rung
            rung = rungs.next(start, rung);
        }
    }

    private void undo(Session session, Rung rung) {
        rung.drop();
        if (session.record().live() == null) { // the journal does not know of it
            parts.volume().discard(session.live());
            parts.egress().closed(session.id());
            parts.engine().releaseSlot(rung.record().slot());
            parts.memory().free(session.id());
        } else {
            session.save(ends.end(session));
        }
    }

    private SandboxStarted run(Start start, Rung rung) {
        Session session = start.session();
        StartSandbox request = start.request();
        LiveVm live =
                LiveVm.starting(
                        request.ref().fence(),
                        request.ref().operation(),
                        rung.record(),
                        request.template(),
                        parts.clock().millis());
        parts.crash().at("start.taken");
        Map<String, Long> phases = new TreeMap<>();
        Egress.Opening network =
                parts.egress()
                        .opening(
                                session.id(),
                                live.start().epoch(),
                                rung.record().slot().number(),
                                start.plan().addresses(),
                                request.noNetwork());
        parts.volume().makeDirectory(session.directory());
        Vm vm;
        try (JournalBeside journal = JournalBeside.begin(session, live)) {
            if (!rung.isMadeAhead()) {
                timed(phases, "journal", journal::await);
            }
            parts.crash().at("start.journaled");
            GuestToken token = GuestToken.fresh();
            long began = System.nanoTime();
            VmFiles files = rung.files(session.live(), token);
            phase(phases, "files", began);
            parts.crash().at("start.files");
            vm = rung.run(files, token);
            phases.putAll(vm.phaseMicros());
            parts.crash().at("start.running");
            if (rung.isMadeAhead()) {
                timed(phases, "journal", journal::await);
            }
        }
        long began = System.nanoTime();
        session.setSandbox(sandbox(session, live, vm));
        phase(phases, "processes", began);
        phases.put("total", (System.nanoTime() - start.begin()) / 1000);
        SandboxStarted started =
                new SandboxStarted(
                        parts.engine().info().name(),
                        start.plan().source().memory() ? rung.name() : "boot",
                        start.plan().memoryLost(),
                        phases,
                        live.start().attempt(),
                        start.newest());
        SnapshotTaken newest = start.newest();
        SnapshotId from = newest == null ? request.snapshot() : newest.snapshot();
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
        rung.done();
        network.done(session.directory());
        ends.watch(session, live.start(), vm);
        return started;
    }

    private static Sandbox sandbox(Session session, LiveVm live, Vm vm) {
        try {
            ProcessTable processes =
                    ProcessTable.open(LiveFiles.processes(session.live()), vm.guest());
            return new Sandbox(session.id(), live.start(), vm, processes);
        } catch (RuntimeException e) {
            vm.end();
            throw e;
        }
    }

    private static void timed(Map<String, Long> phases, String name, Runnable work) {
        long began = System.nanoTime();
        work.run();
        phase(phases, name, began);
    }

    private static void phase(Map<String, Long> phases, String name, long began) {
        phases.put(name, (System.nanoTime() - began) / 1000);
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
                            .filter(taken -> isGood(session, taken.snapshot()))
                            .max(Comparator.comparingLong(SnapshotTaken::stop))
                            .orElse(null);
        }
        for (SnapshotId other : others(present, known)) {
            if (best == null && isGood(session, other)) {
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

    /** A recovery goes by what is damaged, to the newest that is not. */
    private boolean isGood(Session session, SnapshotId snapshot) {
        Optional<String> damage = parts.snapshots().damage(session.id(), snapshot);
        damage.ifPresent(
                d -> LOG.warn("{} of {} is damaged and not used: {}", snapshot, session.id(), d));
        return damage.isEmpty();
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
                    template,
                    start,
                    List.of());
        }
        SessionId owner = owner(request, snapshot);
        SnapshotManifest manifest = parts.snapshots().requireGood(owner, snapshot);
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
                    source(directory, true),
                    manifest.bundle(),
                    manifest.token(),
                    false,
                    template,
                    null,
                    addresses(manifest));
        }
        String own = parts.engine().bundle(template.bundle());
        String bundle = parts.engine().hasBundle(own) ? own : parts.engine().info().bundleDigest();
        return new Plan(
                source(directory, false),
                bundle,
                GuestToken.fresh(),
                full,
                template,
                null,
                List.of());
    }

    private static List<SyntheticAddress> addresses(SnapshotManifest manifest) {
        return manifest.addresses() == null ? List.of() : manifest.addresses();
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
