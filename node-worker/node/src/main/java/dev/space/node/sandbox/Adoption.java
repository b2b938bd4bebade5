package dev.space.node.sandbox;

import dev.space.model.SessionId;
import dev.space.node.dataplane.ProcessTable;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * After a restart of this process: what runs goes on, and what the journal says is half done is
 * finished or undone. Nobody else touches a session before this has ended.
 */
final class Adoption {

    private static final Logger LOG = LoggerFactory.getLogger(Adoption.class);

    private final NodeParts parts;
    private final VmEnds ends;

    Adoption(NodeParts parts, VmEnds ends) {
        this.parts = parts;
        this.ends = ends;
    }

    /** The VM that must be left alone afterwards, or null. */
    @Nullable VmRecord adopt(Session session) {
        return session.<@Nullable VmRecord>alone(() -> adoptAlone(session));
    }

    private @Nullable VmRecord adoptAlone(Session session) {
        LiveVm live = session.record().live();
        if (live == null) {
            parts.volume().discard(session.live());
            return null;
        }
        switch (live.phase()) {
            case DEAD -> {
                return null;
            }
            case STARTING, ENDING -> finishEnd(session, live);
            case STOPPING -> {
                if (isPublished(session, live)) {
                    finishEnd(session, live);
                } else {
                    goOn(session, live);
                }
            }
            case RUNNING -> goOn(session, live);
        }
        LiveVm after = session.record().live();
        return after == null || after.phase() == LiveVm.Phase.DEAD ? null : after.vm();
    }

    private boolean isPublished(Session session, LiveVm live) {
        LiveVm.Stop stop = live.stop();
        return stop != null
                && stop.ends()
                && parts.snapshots().find(session.id(), stop.snapshot()).isPresent();
    }

    private void finishEnd(Session session, LiveVm live) {
        LOG.info("finishing the end of {} that was {}", session.id(), live.phase());
        session.save(ends.end(session));
    }

    private void goOn(Session session, LiveVm live) {
        VmFiles files = new VmFiles(session.live());
        parts.memory().adopt(session.id(), live.vm().size());
        Optional<Vm> found;
        try {
            found = parts.engine().adopt(live.vm(), files, parts.liveFiles().token(session.live()));
        } catch (RuntimeException e) {
            LOG.warn("VM of {} cannot be adopted and is ended", session.id(), e);
            ends.died(session, live, error("could not be adopted: " + e.getMessage()));
            return;
        }
        if (found.isEmpty()) {
            ends.died(session, live, parts.engine().exitOf(live.vm()));
            return;
        }
        Vm vm = found.get();
        try {
            vm.resume();
            ProcessTable processes =
                    ProcessTable.adopt(LiveFiles.processes(session.live()), vm.guest());
            session.setSandbox(new Sandbox(session.id(), live.start(), vm, processes));
        } catch (RuntimeException e) {
            LOG.warn("adopted VM of {} does not go on and is ended", session.id(), e);
            vm.end();
            ends.died(session, live, error("did not go on after a restart of the node"));
            return;
        }
        session.save(session.record().withLive(live.running()));
        int slot = live.vm().slot().number();
        parts.egress().adopted(session.id(), live.start().epoch(), slot, session.directory());
        ends.watch(session, live.start(), vm);
        LOG.info("adopted the sandbox of {} started by {}", session.id(), live.start());
        holdAgain(session, vm);
    }

    /** For want of space, most likely; the guard lets it go when there is some. */
    private static void holdAgain(Session session, Vm vm) {
        try {
            vm.held().goBack();
        } catch (RuntimeException e) {
            LOG.warn("{} is not held again", session.id(), e);
        }
    }

    private static VmExit error(String detail) {
        return new VmExit(VmExit.Reason.ERROR, -1, 0, detail);
    }

    /** The session that a directory's name stands for, or null. */
    static @Nullable SessionId sessionOf(String name) {
        try {
            return new SessionId(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
