package dev.space.node.sandbox;

import dev.space.model.Fence;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How VMs end: on purpose, or by themselves. Every method runs inside the session's lock. */
final class VmEnds {

    private static final Logger LOG = LoggerFactory.getLogger(VmEnds.class);

    private final NodeParts parts;

    VmEnds(NodeParts parts) {
        this.parts = parts;
    }

    /**
     * Ends the VM if one runs, removes {@code live/}, releases the slot. The journal says so before
     * and after, so that a restart in between finishes it. The caller saves what follows.
     */
    SessionRecord end(Session session) {
        LiveVm live = session.record().live();
        if (live == null) {
            return session.record();
        }
        if (live.phase() != LiveVm.Phase.ENDING) {
            session.save(session.record().withLive(live.ending()));
        }
        parts.crash().at("end.journaled");
        closeVm(session);
        parts.crash().at("end.killed");
        parts.volume().discard(session.live());
        release(session, live);
        parts.crash().at("end.released");
        return session.record().withLive(null);
    }

    /**
     * After publish the step has succeeded, whatever else fails: a VM that cannot be ended now
     * stays journaled as ending, never runs again, and {@link #finish} ends it later.
     */
    void endPublished(Session session) {
        try {
            session.save(end(session));
        } catch (SimulatedCrash e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.warn("the VM of {} is paused, but its end must wait", session.id(), e);
        }
    }

    /** Ends a VM whose end was begun and failed. */
    void finish(Session session) {
        if (session.isTransferring()) {
            return; // it has ended that VM first, or tries to
        }
        session.<Boolean>alone(() -> {
            LiveVm live = session.record().live();
            boolean owed =
                    live != null && live.phase() == LiveVm.Phase.ENDING && !session.isClosed();
            if (owed) {
                session.save(end(session));
                LOG.info("finished the end of the VM of {}", session.id());
            }
            return owed;
        });
    }

    /** Ends what runs in this process's view; the slot's own end is the release. */
    private static void closeVm(Session session) {
        Sandbox sandbox = session.sandbox();
        session.setSandbox(null);
        if (sandbox != null) {
            sandbox.processes().close();
            sandbox.vm().end();
        }
    }

    private void release(Session session, LiveVm live) {
        // The gateway lets go first: nothing of this session may speak for the slot's next one.
        parts.egress().closed(session.id());
        if (live.phase() != LiveVm.Phase.DEAD) {
            parts.engine().releaseSlot(live.vm().slot());
        }
        parts.memory().free(session.id());
    }

    /** A VM is gone that nobody ended: keeps its disk, frees the rest, tells. */
    void died(Session session, LiveVm live, VmExit exit) {
        LOG.info("VM of {} started by {} ended: {}", session.id(), live.start(), exit);
        parts.reports().exited(session.id(), live.start(), exit);
        closeVm(session);
        // The files change hands before the slot's uid can belong to another VM.
        parts.liveFiles().takeBack(session.live());
        release(session, live);
        session.save(session.record().withLive(live.dead(exit)));
    }

    /** Ends a VM that an operation outran, but keeps its disk for that operation. */
    void killKeepingDisk(Session session, LiveVm live) {
        // The higher fence first: nothing older may touch the session from here on.
        session.save(session.record());
        closeVm(session);
        parts.liveFiles().takeBack(session.live());
        release(session, live);
        VmExit exit = new VmExit(VmExit.Reason.FENCED, -1, 0, "ended by a newer operation");
        session.save(session.record().withLive(live.dead(exit)));
    }

    /** Notices the end of this VM, when it comes. */
    void watch(Session session, Fence start, Vm vm) {
        var _ =
                vm.exit()
                        .thenAcceptAsync(
                                exit -> onExit(session, start, exit),
                                task -> Thread.ofVirtual().name("vm-exit").start(task));
    }

    private void onExit(Session session, Fence start, VmExit exit) {
        session.<Boolean>alone(() -> {
            LiveVm live = session.record().live();
            boolean ours =
                    live != null
                            && live.start().equals(start)
                            && live.phase() == LiveVm.Phase.RUNNING
                            && !session.isClosed();
            if (ours && live != null) {
                died(session, live, exit);
            }
            return ours;
        });
    }
}
