package dev.space.node.sandbox;

import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SnapshotReason;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.volumes.ChangeMark;
import dev.space.node.volumes.SnapshotManifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Pause and checkpoint of a running sandbox, and the disk of a dead one. */
final class SnapshotStep {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotStep.class);

    /** Free space that a snapshot must find beside the reserve. */
    static final long ROOM_BYTES = 64L << 20;

    private static final Duration EXIT_GRACE = Duration.ofMillis(300);

    private final NodeParts parts;
    private final VmEnds ends;

    SnapshotStep(NodeParts parts, VmEnds ends) {
        this.parts = parts;
        this.ends = ends;
    }

    /**
     * @param pause true to end the VM once the snapshot is published
     */
    SnapshotTaken take(Session session, StepRef ref, SnapshotId snapshot, boolean pause) {
        return session.fenced(ref, () -> takeAlone(session, ref, snapshot, pause));
    }

    private SnapshotTaken takeAlone(
            Session session, StepRef ref, SnapshotId snapshot, boolean pause) {
        Optional<SnapshotManifest> there = parts.snapshots().find(session.id(), snapshot);
        if (there.isPresent()) {
            LiveVm live = session.record().live();
            boolean oursToEnd =
                    pause
                            && live != null
                            && live.stop() != null
                            && live.stop().snapshot().equals(snapshot);
            if (oursToEnd) {
                ends.endPublished(session);
            }
            return there.get().taken();
        }
        Sandbox sandbox = session.sandbox();
        LiveVm live = session.record().live();
        if (sandbox == null || live == null || live.phase() != LiveVm.Phase.RUNNING) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED,
                    "no sandbox of the session runs here"
                            + (live == null ? "" : "; the last one is " + live.phase()));
        }
        if (live.operation().equals(ref.operation())) {
            // A rollback that is carried on by another run must not keep its own result as
            // "before".
            throw new SpaceException(
                    ErrorCode.PRECONDITION_FAILED, "the operation has started this sandbox itself");
        }
        if (pause) {
            parts.volume().requireRoom(ROOM_BYTES);
        } else {
            parts.volume().requireSpace(ROOM_BYTES);
        }
        sandbox.vm().writeBack();
        SnapshotReason reason = pause ? SnapshotReason.PAUSE : SnapshotReason.CHECKPOINT;
        LiveVm.Stop stop = new LiveVm.Stop(ref.operation(), snapshot, pause);
        return stopAndCopy(session, sandbox, live, stop, new Cause(reason, null));
    }

    /** Why a snapshot is made, and what the guest had done by then, where somebody asks later. */
    record Cause(SnapshotReason reason, @Nullable ChangeMark mark) {}

    /** Stops a running VM, copies and publishes it. What it wrote is written back already. */
    SnapshotTaken stopAndCopy(
            Session session, Sandbox sandbox, LiveVm live, LiveVm.Stop stop, Cause cause) {
        LiveVm stopping = live.stopping(stop);
        session.save(session.record().withLive(stopping));
        parts.crash().at("snapshot.journaled");
        Path staged = parts.volume().newStaging("snapshot");
        try {
            SnapshotTaken taken = copy(session, sandbox, stopping, staged, stop.ends());
            parts.crash().at("snapshot.copied");
            publish(session, stopping, staged, taken, cause);
            parts.crash().at("snapshot.published");
            afterPublish(session, stopping, stop.ends());
            return taken;
        } catch (SimulatedCrash e) {
            throw e;
        } catch (RuntimeException e) {
            return recover(session, sandbox, stopping, staged, e);
        }
    }

    /** Before publish the VM goes on; after it the snapshot counts, whatever failed then. */
    private SnapshotTaken recover(
            Session session, Sandbox sandbox, LiveVm stopping, Path staged, RuntimeException e) {
        LiveVm.Stop stop = stopping.stop();
        if (stop != null) {
            Optional<SnapshotManifest> there =
                    parts.snapshots().find(session.id(), stop.snapshot());
            if (there.isPresent()) {
                LOG.warn("{} is published although a later step failed", stop.snapshot(), e);
                afterPublish(session, stopping, stop.ends());
                return there.get().taken();
            }
        }
        parts.volume().discard(staged);
        VmExit gone = exitSoon(sandbox.vm());
        if (gone != null) {
            ends.died(session, stopping, gone);
            throw e;
        }
        try {
            sandbox.vm().resume();
            session.save(session.record().withLive(stopping.running()));
        } catch (RuntimeException second) {
            e.addSuppressed(second);
            sandbox.vm().end();
            VmExit exit = new VmExit(VmExit.Reason.ERROR, -1, 0, "could not go on after a stop");
            ends.died(session, stopping, exit);
        }
        throw e;
    }

    private void afterPublish(Session session, LiveVm stopping, boolean ending) {
        if (ending) {
            ends.endPublished(session);
        } else {
            session.save(session.record().withLive(stopping.running()));
        }
    }

    /** A VM that dies breaks its connections a little before its end is known. */
    private static @Nullable VmExit exitSoon(Vm vm) {
        try {
            return vm.exit().get(EXIT_GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private SnapshotTaken copy(
            Session session, Sandbox sandbox, LiveVm live, Path staged, boolean pause) {
        LiveVm.Stop stop = live.stop();
        if (stop == null) {
            throw new IllegalStateException("a stop without its reason");
        }
        final long begin = System.nanoTime();
        final boolean quiesced = sandbox.vm().quiesce();
        sandbox.vm().stop();
        sandbox.vm().saveDevice();
        long bytes;
        sandbox.processes().flush();
        try {
            parts.liveFiles().cloneStopped(new VmFiles(session.live()), staged);
            bytes = LiveFiles.bytes(staged);
        } catch (IOException e) {
            throw parts.volume().failed("clone the files of " + session.id(), e);
        }
        if (!pause) {
            sandbox.vm().resume();
        }
        long micros = (System.nanoTime() - begin) / 1000;
        return new SnapshotTaken(
                stop.snapshot(),
                SnapshotKind.FULL,
                live.start().epoch(),
                live.stops(),
                bytes,
                parts.clock().millis(),
                quiesced,
                micros);
    }

    void publish(Session session, LiveVm live, Path staged, SnapshotTaken taken, Cause cause) {
        LiveVm.Stop stop = live.stop();
        boolean memory = taken.kind() == SnapshotKind.FULL;
        GuestToken token = memory ? parts.liveFiles().token(session.live()) : null;
        String operation = stop == null ? live.operation().value() : stop.operation().value();
        parts.snapshots()
                .publish(
                        session.id(),
                        staged,
                        new SnapshotManifest(
                                taken,
                                operation,
                                live.template(),
                                live.vm().size(),
                                parts.engine().info().name(),
                                live.vm().bundle(),
                                token,
                                cause.reason(),
                                cause.mark(),
                                memory ? parts.egress().addresses(session.id()) : null,
                                null)); // sealed when it is published
    }

    /** Null when no disk of a dead sandbox is here. */
    @Nullable SnapshotTaken preserveDisk(Session session, StepRef ref, SnapshotId snapshot) {
        return session.<@Nullable SnapshotTaken>fenced(
                ref, () -> preserveAlone(session, ref, snapshot));
    }

    private @Nullable SnapshotTaken preserveAlone(
            Session session, StepRef ref, SnapshotId snapshot) {
        Optional<SnapshotManifest> there = parts.snapshots().find(session.id(), snapshot);
        if (there.isPresent()) {
            return there.get().taken();
        }
        LiveVm live = session.record().live();
        if (live == null || live.start().epoch() >= ref.fence().epoch()) {
            return null;
        }
        Path disk = new VmFiles(session.live()).disk();
        if (!Files.isRegularFile(disk, LinkOption.NOFOLLOW_LINKS)) {
            return null;
        }
        if (live.phase() != LiveVm.Phase.DEAD) {
            ends.killKeepingDisk(session, live);
            live = session.record().live();
        }
        if (live == null) {
            return null;
        }
        Path staged = parts.volume().newStaging("disk");
        long bytes;
        try {
            parts.volume().cloner().cloneFile(disk, staged.resolve("disk"));
            bytes = LiveFiles.bytes(staged);
        } catch (IOException e) {
            throw parts.volume().failed("clone the disk of " + session.id(), e);
        }
        parts.crash().at("preserve.copied");
        LiveVm stopped = live.stopping(new LiveVm.Stop(ref.operation(), snapshot, true));
        SnapshotTaken taken =
                new SnapshotTaken(
                        snapshot,
                        SnapshotKind.DISK,
                        live.start().epoch(),
                        stopped.stops(),
                        bytes,
                        parts.clock().millis(),
                        false,
                        0);
        publish(session, stopped, staged, taken, new Cause(SnapshotReason.CRASH, null));
        return taken;
    }
}
