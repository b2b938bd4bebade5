package dev.space.manager;

import dev.space.nativeabi.NamespaceSockets;
import dev.space.nativeabi.NativeException;
import dev.space.nativeabi.PidFd;
import dev.space.privileged.PrivilegedLimits;
import dev.space.privileged.RefusalCode;
import dev.space.privileged.Reply;
import dev.space.privileged.Request;
import dev.space.privileged.SlotInfo;
import dev.space.privileged.VmmExit;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What is done with slots, one request at a time for each slot. All state is on the machine: the
 * namespace, the cgroup, the exit records.
 */
final class Slots {

    private static final Duration FREEZE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(15);

    /** After the VMM's end its parent writes one line; more than this means that it is gone. */
    private static final Duration RECORD_TIMEOUT = Duration.ofSeconds(2);

    private final ManagerConfig config;
    private final Cgroups cgroups;
    private final ExitRecords records;
    private final JailLauncher launcher;
    private final List<ReentrantLock> locks = new ArrayList<>();

    Slots(ManagerConfig config, Cgroups cgroups, ExitRecords records, JailLauncher launcher) {
        this.config = config;
        this.cgroups = cgroups;
        this.records = records;
        this.launcher = launcher;
        for (int i = 0; i < config.slots(); i++) {
            locks.add(new ReentrantLock());
        }
    }

    Reply handle(Request request) throws IOException, Refusal {
        return switch (request) {
            case Request.DescribeSlots _ -> describe();
            case Request.EnsureSlot r -> locked(r.slot(), () -> ensure(r.slot()));
            case Request.StartVmm r -> locked(r.slot(), () -> start(r));
            case Request.FreezeSlot r -> locked(r.slot(), () -> freeze(r.slot(), true));
            case Request.ThawSlot r -> locked(r.slot(), () -> freeze(r.slot(), false));
            case Request.KillVmm r -> locked(r.slot(), () -> kill(r.slot()));
            case Request.ReadExit r -> locked(r.slot(), () -> readExit(r.slot(), r.startId()));
            case Request.ReleaseSlot r -> locked(r.slot(), () -> release(r.slot()));
        };
    }

    private interface Action {
        Reply run() throws IOException, Refusal;
    }

    private Reply locked(int slot, Action action) throws IOException, Refusal {
        ReentrantLock lock = lock(slot);
        lock.lock();
        try {
            return action.run();
        } finally {
            lock.unlock();
        }
    }

    private ReentrantLock lock(int slot) throws Refusal {
        if (slot >= config.slots()) {
            throw new Refusal(
                    RefusalCode.INVALID, "slot " + slot + " of " + config.slots() + " slots");
        }
        return locks.get(slot);
    }

    /** New sockets in the slot's namespace, for the gateway. */
    NamespaceSockets issueSockets(int slot) throws IOException, Refusal {
        ReentrantLock lock = lock(slot);
        lock.lock();
        try {
            if (!SlotNetwork.exists(config.namespace(slot))) {
                throw new Refusal(RefusalCode.NO_SLOT, "slot " + slot + " was not made");
            }
            return NamespaceSockets.open(
                    SlotNetwork.path(config.namespace(slot)),
                    PrivilegedLimits.EGRESS_TCP_PORT,
                    PrivilegedLimits.EGRESS_BACKLOG,
                    PrivilegedLimits.EGRESS_DNS_PORT);
        } catch (NativeException e) {
            throw e.errno() == NativeException.EADDRINUSE
                    ? new Refusal(
                            RefusalCode.SLOT_BUSY,
                            "sockets of slot " + slot + " are still held: " + e.getMessage())
                    : new Refusal(RefusalCode.FAILED, String.valueOf(e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    static String name(int slot) {
        return "slot-" + slot;
    }

    private boolean alive(int slot) throws IOException {
        return !cgroups.processes(name(slot)).isEmpty();
    }

    private Reply ensure(int slot) throws IOException {
        Reply ready = new Reply.SlotReady(slot, config.uid(slot));
        if (alive(slot) && SlotNetwork.exists(config.namespace(slot))) {
            return ready;
        }
        cgroups.ensure(name(slot));
        SlotNetwork.ensure(config.namespace(slot), config.uid(slot));
        return ready;
    }

    private Reply start(Request.StartVmm r) throws IOException, Refusal {
        Optional<ExitRecords.Entry> before = records.read(r.slot(), r.startId());
        if (before.isPresent()) {
            if (before.get().end().isEmpty() && runs(r.slot(), before.get().pid())) {
                return new Reply.VmmStarted(r.slot(), r.startId(), before.get().pid());
            }
            throw new Refusal(
                    RefusalCode.INVALID, "start " + r.startId() + " of this slot was used");
        }
        if (alive(r.slot())) {
            throw new Refusal(RefusalCode.SLOT_BUSY, "a VMM runs in slot " + r.slot());
        }
        if (!SlotNetwork.exists(config.namespace(r.slot()))) {
            throw new Refusal(RefusalCode.NO_SLOT, "slot " + r.slot() + " was not made");
        }
        // A new cgroup, so that its counts are this start's alone.
        cgroups.remove(name(r.slot()));
        cgroups.ensure(name(r.slot()));
        cgroups.limit(
                name(r.slot()),
                new Cgroups.Limits((long) r.memoryMiB() << 20, r.cpuPercent(), r.tasks()));
        boolean started = false;
        try {
            int pid = launcher.start(r, cgroups.directories(name(r.slot())));
            started = true;
            return new Reply.VmmStarted(r.slot(), r.startId(), pid);
        } finally {
            if (!started) {
                killAll(r.slot());
                records.delete(r.slot(), r.startId());
            }
        }
    }

    private boolean runs(int slot, int pid) throws IOException {
        return cgroups.processes(name(slot)).contains(pid);
    }

    private Reply freeze(int slot, boolean frozen) throws IOException, Refusal {
        if (!alive(slot)) {
            throw new Refusal(RefusalCode.NO_SLOT, "nothing runs in slot " + slot);
        }
        cgroups.freeze(name(slot), frozen, FREEZE_TIMEOUT);
        return new Reply.Done();
    }

    private Reply kill(int slot) throws IOException, Refusal {
        killAll(slot);
        return new Reply.Done();
    }

    /** Everything in the cgroup, again and again until it is empty: a fork may race. */
    private void killAll(int slot) throws IOException, Refusal {
        long deadline = System.nanoTime() + KILL_TIMEOUT.toNanos();
        List<Integer> pids = cgroups.processes(name(slot));
        while (!pids.isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                throw new Refusal(RefusalCode.TIMED_OUT, "processes " + pids + " survive SIGKILL");
            }
            for (int pid : pids) {
                killOne(slot, pid);
            }
            pids = cgroups.processes(name(slot));
        }
    }

    private void killOne(int slot, int pid) throws IOException {
        try (PidFd fd = PidFd.open(pid).orElse(null)) {
            // Looked at again after the open: now the number cannot change hands.
            if (fd == null || !runs(slot, pid)) {
                return;
            }
            fd.signal(PidFd.SIGKILL);
            if (cgroups.frozen(name(slot))) {
                // The signal is pending first, so a thawed VMM does nothing more.
                cgroups.freeze(name(slot), false, FREEZE_TIMEOUT);
            }
            boolean _ = fd.awaitExit(Duration.ofSeconds(2));
        }
    }

    private Reply readExit(int slot, long startId) throws IOException, Refusal {
        ExitRecords.Entry entry =
                records.read(slot, startId)
                        .orElseThrow(() ->
                                new Refusal(
                                        RefusalCode.NO_SUCH_START,
                                        "no start " + startId + " in slot " + slot));
        if (entry.end().isEmpty() && !runs(slot, entry.pid())) {
            boolean _ =
                    CgroupFiles.await(
                            RECORD_TIMEOUT,
                            () ->
                                    records.read(slot, startId)
                                            .flatMap(ExitRecords.Entry::end)
                                            .isPresent());
            entry = records.read(slot, startId).orElse(entry);
        }
        long oomKills = cgroups.figures(name(slot)).oomKills();
        String message = records.message(slot, startId);
        if (entry.end().isPresent()) {
            ExitRecords.End end = entry.end().get();
            VmmExit.State state = end.signal() ? VmmExit.State.SIGNALED : VmmExit.State.EXITED;
            return new Reply.Exit(new VmmExit(state, end.value(), oomKills, message));
        }
        VmmExit.State state =
                runs(slot, entry.pid()) ? VmmExit.State.RUNNING : VmmExit.State.UNKNOWN;
        return new Reply.Exit(new VmmExit(state, 0, oomKills, message));
    }

    private Reply release(int slot) throws IOException, Refusal {
        if (alive(slot)) {
            throw new Refusal(RefusalCode.SLOT_BUSY, "a VMM runs in slot " + slot);
        }
        SlotNetwork.remove(config.namespace(slot));
        cgroups.remove(name(slot));
        for (long startId : records.startIds(slot)) {
            records.delete(slot, startId);
        }
        return new Reply.Done();
    }

    /** Takes no lock: it only looks, and a long start must not hide the other slots. */
    private Reply describe() throws IOException {
        List<SlotInfo> infos = new ArrayList<>();
        TreeSet<String> existing = new TreeSet<>(cgroups.names());
        for (int slot = 0; slot < config.slots(); slot++) {
            boolean namespace = Files.exists(SlotNetwork.path(config.namespace(slot)));
            Optional<ExitRecords.Entry> newest = records.newest(slot);
            if (namespace || newest.isPresent() || existing.contains(name(slot))) {
                infos.add(info(slot, newest));
            }
        }
        return new Reply.Slots(infos);
    }

    private SlotInfo info(int slot, Optional<ExitRecords.Entry> newest) throws IOException {
        List<Integer> pids = cgroups.processes(name(slot));
        Cgroups.Figures figures = cgroups.figures(name(slot));
        int pid = newest.map(ExitRecords.Entry::pid).filter(pids::contains).orElse(0);
        return new SlotInfo(
                slot,
                !pids.isEmpty(),
                cgroups.frozen(name(slot)),
                pid == 0 && !pids.isEmpty() ? pids.getFirst() : pid,
                newest.map(ExitRecords.Entry::startId).orElse(0L),
                newest.map(ExitRecords.Entry::directory).orElse(""),
                figures.memoryBytes(),
                figures.memoryPeakBytes(),
                figures.cpuMicros(),
                figures.oomKills());
    }
}
