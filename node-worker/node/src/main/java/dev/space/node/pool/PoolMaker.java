package dev.space.node.pool;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.StartIds;
import dev.space.node.engine.spi.StartPermit;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.engine.spi.WaitingVm;
import dev.space.node.sandbox.LiveFiles;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.node.templates.TemplateInfo;
import dev.space.node.templates.WarmUp;
import dev.space.node.volumes.Volume;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes what the pool keeps, in a real slot and jail, with its files in staging. */
final class PoolMaker {

    private static final Logger LOG = LoggerFactory.getLogger(PoolMaker.class);

    /** Free space that must be there beside the reserve. */
    private static final long ROOM_BYTES = 512L << 20;

    private static final Duration FREEZE_MAX = Duration.ofSeconds(5);
    private static final Duration FREEZE_LOOK = Duration.ofMillis(5);

    /** Until a session gives it another. */
    private static final String HOSTNAME = "sandbox";

    private final Engine engine;
    private final Volume volume;
    private final LiveFiles liveFiles;
    private final MemoryBudget memory;
    private final long memoryMost;
    private final Yielding yielding;

    PoolMaker(
            Engine engine,
            Volume volume,
            LiveFiles liveFiles,
            MemoryBudget memory,
            long memoryMost,
            Yielding yielding) {
        this.engine = engine;
        this.volume = volume;
        this.liveFiles = liveFiles;
        this.memory = memory;
        this.memoryMost = memoryMost;
        this.yielding = yielding;
    }

    /** Slot, memory and directory of a VM in the making. */
    private record Room(VmRecord record, Path workplace) {

        Path live() {
            return workplace.resolve("live");
        }
    }

    @FunctionalInterface
    private interface Making<E> {
        E in(Room room);
    }

    /** Loaded, run once, stopped; null when there is no memory to spare. */
    Entry.@Nullable Hot hot(Entry.Kind kind, TemplateInfo template) {
        return made(kind.size(), kind.start().bundle(), room -> hot(kind, template, room));
    }

    private Entry.Hot hot(Entry.Kind kind, TemplateInfo template, Room room) {
        Path start = kind.start().directory();
        GuestToken token = GuestToken.fresh();
        VmFiles files =
                liveFiles.make(
                        room.live(),
                        new LiveFiles.Source(start, start.resolve("disk"), true),
                        room.record().slot(),
                        kind.size(),
                        token);
        GuestIdentity identity = new GuestIdentity(HOSTNAME, 1, template.user(), false);
        VmStart first =
                new VmStart(
                        room.record(),
                        files,
                        true,
                        kind.start().token(),
                        token,
                        identity,
                        StartPermit.ALWAYS);
        WaitingVm shell = engine.prepare(room.record(), files);
        Vm vm;
        try (Yielding.Made _ = yielding.making(shell.held())) {
            vm = shell.load(first);
            WarmUp.run(vm);
            freeze(vm);
            vm.stop();
        } catch (RuntimeException e) {
            shell.end();
            throw e;
        }
        return new Entry.Hot(room.record(), room.workplace(), files, token, kind, vm);
    }

    /**
     * Nothing of the workload may run before its randomness is renewed. The guest gives itself a
     * few milliseconds for it, and what is begun then is found done by the next asking.
     */
    private static void freeze(Vm vm) {
        long end = System.nanoTime() + FREEZE_MAX.toNanos();
        try {
            while (!vm.quiesce()) {
                if (System.nanoTime() > end) {
                    throw new SpaceException(
                            ErrorCode.GUEST_UNREACHABLE, "the workload was not frozen in time");
                }
                Pause.of(FREEZE_LOOK);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
        }
    }

    /** A VMM that waits; null when there is no memory to spare. */
    Entry.@Nullable Waiting waiting(String bundle, Size size) {
        return made(
                size,
                bundle,
                room -> {
                    VmFiles files = liveFiles.makeEmpty(room.live(), room.record().slot(), size);
                    WaitingVm vm = engine.prepare(room.record(), files);
                    return new Entry.Waiting(room.record(), room.workplace(), files, vm);
                });
    }

    private <E> @Nullable E made(Size size, String bundle, Making<E> making) {
        volume.requireSpace(ROOM_BYTES);
        SessionId nobody = WarmUp.nobody();
        if (!memory.reserveAhead(nobody, size, memoryMost)) {
            return null;
        }
        Slot slot;
        try {
            slot = engine.acquireSlot();
        } catch (RuntimeException e) {
            memory.freeAhead(nobody);
            throw e;
        }
        Path workplace = volume.newStaging("pool");
        VmRecord record = new VmRecord(nobody, slot, StartIds.next(), bundle, size);
        try {
            return making.in(new Room(record, workplace));
        } catch (RuntimeException e) {
            release(record, workplace);
            throw e;
        }
    }

    private void release(VmRecord record, Path workplace) {
        try {
            engine.releaseSlot(record.slot());
        } catch (RuntimeException e) {
            LOG.warn("slot {} of the pool could not be released", record.slot().number(), e);
        }
        memory.freeAhead(record.session());
        volume.discard(workplace);
    }

    void discard(Entry entry) {
        try {
            entry.end();
        } catch (RuntimeException e) {
            LOG.warn("a VM of the pool did not end", e);
        }
        release(entry.record(), entry.workplace());
    }
}
