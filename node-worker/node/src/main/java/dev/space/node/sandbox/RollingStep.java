package dev.space.node.sandbox;

import dev.space.contract.node.SnapshotTaken;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SnapshotReason;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.volumes.ChangeMark;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Snapshots that the node makes by itself. They carry no fence and raise none: each belongs to the
 * VM that runs, takes the next place in its order of stops, and is left out as soon as a lifecycle
 * step is at work on the session, waits to be, or has overtaken that VM.
 */
final class RollingStep {

    private static final Logger LOG = LoggerFactory.getLogger(RollingStep.class);

    private final NodeParts parts;
    private final SnapshotStep steps;

    RollingStep(NodeParts parts, SnapshotStep steps) {
        this.parts = parts;
        this.steps = steps;
    }

    /**
     * Empty when it was left out. What the guest wrote must be written back before, outside of the
     * session's lock.
     */
    Optional<SnapshotTaken> take(
            Session session, Sandbox sandbox, SnapshotId id, RollingRequest request) {
        boolean freezes = request.kind() == SnapshotKind.DISK && request.freeze();
        boolean frozen = freezes && sandbox.vm().freezeFileSystem();
        try {
            return session.whenIdle(() -> takeAlone(session, sandbox, id, request, frozen));
        } finally {
            if (freezes) {
                thaw(sandbox);
            }
        }
    }

    private static void thaw(Sandbox sandbox) {
        try {
            sandbox.vm().thawFileSystem();
        } catch (RuntimeException e) {
            LOG.warn("{} thaws its file system by itself", sandbox.session(), e);
        }
    }

    private Optional<SnapshotTaken> takeAlone(
            Session session,
            Sandbox sandbox,
            SnapshotId id,
            RollingRequest request,
            boolean frozen) {
        LiveVm live = session.record().live();
        boolean ours =
                live != null
                        && live.phase() == LiveVm.Phase.RUNNING
                        && live.start().equals(sandbox.start())
                        && sandbox.equals(session.sandbox())
                        && session.record().highest().epoch() == live.start().epoch();
        if (!ours || live == null) {
            return Optional.empty();
        }
        parts.volume().requireSpace(SnapshotStep.ROOM_BYTES);
        SnapshotStep.Cause cause = new SnapshotStep.Cause(SnapshotReason.ROLLING, request.mark());
        if (request.kind() == SnapshotKind.FULL) {
            LiveVm.Stop stop = new LiveVm.Stop(live.operation(), id, false);
            return Optional.of(steps.stopAndCopy(session, sandbox, live, stop, cause));
        }
        return Optional.of(disk(session, live, id, cause, frozen));
    }

    /**
     * Of the disk of a VM that runs on. A clone sees all that the VMM has written and nothing half:
     * what a loss of power would have left, and where the guest holds still, all that it finished.
     */
    private SnapshotTaken disk(
            Session session, LiveVm live, SnapshotId id, SnapshotStep.Cause cause, boolean frozen) {
        LiveVm counted = live.counted();
        session.save(session.record().withLive(counted));
        parts.crash().at("rolling.journaled");
        Path staged = parts.volume().newStaging("rolling");
        try {
            parts.volume()
                    .cloner()
                    .cloneFile(new VmFiles(session.live()).disk(), staged.resolve("disk"));
            parts.crash().at("rolling.copied");
            SnapshotTaken taken =
                    new SnapshotTaken(
                            id,
                            SnapshotKind.DISK,
                            counted.start().epoch(),
                            counted.stops(),
                            LiveFiles.bytes(staged),
                            parts.clock().millis(),
                            frozen,
                            0);
            steps.publish(session, counted, staged, taken, cause);
            parts.crash().at("rolling.published");
            return taken;
        } catch (IOException e) {
            parts.volume().discard(staged);
            throw parts.volume().failed("clone the disk of " + session.id(), e);
        } catch (SimulatedCrash e) {
            throw e;
        } catch (RuntimeException e) {
            parts.volume().discard(staged);
            throw e;
        }
    }

    /** What to make. */
    record RollingRequest(SnapshotKind kind, boolean freeze, ChangeMark mark) {}
}
