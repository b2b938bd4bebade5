package dev.space.node.sandbox;

import dev.space.model.ErrorCode;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.StartIds;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.templates.StartFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The ways to a VM: one that waits hot, a VMM that waits for a snapshot, or one made from nothing.
 * What is taken here is the session's at once, so that its end gives it back.
 */
final class Rungs {

    private final NodeParts parts;

    Rungs(NodeParts parts) {
        this.parts = parts;
    }

    /** The quickest one that there is. */
    Rung best(StartStep.Start start) {
        Rung hot = hot(start);
        return hot == null ? prepared(start) : hot;
    }

    /** The one below. */
    Rung next(StartStep.Start start, Rung failed) {
        return failed.name().equals(Rung.HOT) ? prepared(start) : cold(start);
    }

    private @Nullable Rung hot(StartStep.Start start) {
        StartFiles fresh = start.plan().fresh();
        ReadyVms.Hot taken =
                fresh == null
                        ? null
                        : parts.ready()
                                .takeHot(start.request().template(), start.request().size(), fresh);
        if (taken == null) {
            return null;
        }
        parts.memory().handOver(taken.record().session(), start.session().id());
        return new HotRung(start, taken);
    }

    private Rung prepared(StartStep.Start start) {
        Size size = start.request().size();
        boolean memory = start.plan().source().memory();
        ReadyVms.Waiting taken =
                memory ? parts.ready().takeWaiting(start.plan().bundle(), size) : null;
        if (taken == null) {
            return cold(start);
        }
        parts.memory().handOver(taken.record().session(), start.session().id());
        return new PreparedRung(start, taken);
    }

    private Rung cold(StartStep.Start start) {
        parts.memory().reserve(start.session().id(), start.request().size());
        Slot slot;
        try {
            slot = slot();
        } catch (RuntimeException e) {
            parts.memory().free(start.session().id());
            throw e;
        }
        VmRecord record =
                new VmRecord(
                        start.session().id(),
                        slot,
                        StartIds.next(),
                        start.plan().bundle(),
                        start.request().size());
        return new ColdRung(start, record);
    }

    private Slot slot() {
        while (true) {
            try {
                return parts.engine().acquireSlot();
            } catch (SpaceException e) {
                if (e.code() != ErrorCode.NO_CAPACITY || !parts.ready().giveUpOne()) {
                    throw e;
                }
            }
        }
    }

    private VmStart start(
            StartStep.Start start,
            VmRecord record,
            VmFiles files,
            GuestToken known,
            GuestToken token) {
        GuestIdentity identity =
                new GuestIdentity(
                        start.request().hostname(),
                        start.request().maxProcesses(),
                        start.plan().template().user(),
                        start.request().origin() != null);
        boolean restore = start.plan().source().memory();
        return new VmStart(record, files, restore, known, token, identity, parts.permit());
    }

    private final class HotRung implements Rung {

        private final StartStep.Start start;
        private final ReadyVms.Hot taken;

        HotRung(StartStep.Start start, ReadyVms.Hot taken) {
            this.start = start;
            this.taken = taken;
        }

        @Override
        public String name() {
            return HOT;
        }

        @Override
        public VmRecord record() {
            return taken.record().of(start.session().id());
        }

        @Override
        public VmFiles files(Path live, GuestToken token) {
            return parts.liveFiles().moveIn(taken.files(), live, token);
        }

        @Override
        public Vm run(VmFiles files, GuestToken token) {
            taken.vm().handOver(start(start, record(), files, taken.token(), token));
            return taken.vm();
        }

        @Override
        public void drop() {
            taken.vm().end();
            done();
        }

        @Override
        public void done() {
            parts.volume().discard(taken.workplace());
        }
    }

    private final class PreparedRung implements Rung {

        private final StartStep.Start start;
        private final ReadyVms.Waiting taken;

        PreparedRung(StartStep.Start start, ReadyVms.Waiting taken) {
            this.start = start;
            this.taken = taken;
        }

        @Override
        public String name() {
            return PREPARED;
        }

        @Override
        public VmRecord record() {
            return taken.record().of(start.session().id());
        }

        @Override
        public VmFiles files(Path live, GuestToken token) {
            parts.liveFiles().fill(taken.files(), start.plan().source());
            return parts.liveFiles().moveIn(taken.files(), live, token);
        }

        @Override
        public Vm run(VmFiles files, GuestToken token) {
            return taken.vm().load(start(start, record(), files, start.plan().token(), token));
        }

        @Override
        public void drop() {
            taken.vm().end();
            done();
        }

        @Override
        public void done() {
            parts.volume().discard(taken.workplace());
        }
    }

    private final class ColdRung implements Rung {

        private final StartStep.Start start;
        private final VmRecord record;

        ColdRung(StartStep.Start start, VmRecord record) {
            this.start = start;
            this.record = record;
        }

        @Override
        public String name() {
            return COLD;
        }

        @Override
        public VmRecord record() {
            return record;
        }

        @Override
        public VmFiles files(Path live, GuestToken token) {
            return parts.liveFiles()
                    .make(live, start.plan().source(), record.slot(), record.size(), token);
        }

        @Override
        public Vm run(VmFiles files, GuestToken token) {
            return parts.engine().start(start(start, record, files, start.plan().token(), token));
        }

        @Override
        public void drop() {}

        @Override
        public void done() {}
    }
}
