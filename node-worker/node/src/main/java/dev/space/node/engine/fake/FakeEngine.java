package dev.space.node.engine.fake;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.EngineInfo;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.engine.spi.WaitingVm;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/** The same contract as a real engine, without a VM, without root and without btrfs. */
public final class FakeEngine implements Engine {

    public static final String NAME = "fake";

    private final FakeMachine machine;
    private final FaultPlan faults;
    private final InstantSource clock;
    private final int slots;
    private final TreeSet<Integer> free = new TreeSet<>();

    public FakeEngine(FakeMachine machine, FaultPlan faults, InstantSource clock, int slots) {
        this.machine = machine;
        this.faults = faults;
        this.clock = clock;
        this.slots = slots;
        for (int i = 0; i < slots; i++) {
            free.add(i);
        }
    }

    @Override
    public EngineInfo info() {
        return new EngineInfo(NAME, "", "none", true, false, Set.of(), slots);
    }

    @Override
    public synchronized Slot acquireSlot() {
        Integer first = free.pollFirst();
        if (first == null) {
            throw new SpaceException(ErrorCode.NO_CAPACITY, "all " + slots + " slots are taken");
        }
        return new Slot(first, Slot.NO_GROUP);
    }

    @Override
    public void releaseSlot(Slot slot) {
        machine.clear(slot.number());
        synchronized (this) {
            free.add(slot.number());
        }
    }

    @Override
    public synchronized int freeSlots() {
        return free.size();
    }

    @Override
    public String bundle(String digest) {
        return digest;
    }

    @Override
    public boolean hasBundle(String bundle) {
        return bundle.isEmpty();
    }

    @Override
    public WaitingVm prepare(VmRecord record, VmFiles files) {
        FakeVm shell = FakeVm.load(record, files, true, clock, machine, faults);
        machine.add(shell);
        return new WaitingVm() {
            @Override
            public Vm load(VmStart start) {
                try {
                    return faults.call("load", () -> loadOnce(shell, start));
                } catch (SpaceException e) {
                    machine.clear(record.slot().number());
                    throw e;
                }
            }

            @Override
            public VmHold held() {
                return shell.held();
            }

            @Override
            public void end() {
                shell.end();
            }

            @Override
            public CompletableFuture<VmExit> exit() {
                return shell.exit();
            }
        };
    }

    private Vm loadOnce(FakeVm shell, VmStart start) {
        if (shell.exit().isDone()) {
            throw new SpaceException(ErrorCode.ENGINE_FAILED, "the fake VM has ended");
        }
        machine.replace(shell);
        return startOnce(start);
    }

    @Override
    public Vm start(VmStart start) {
        return faults.call("start", () -> startOnce(start));
    }

    private Vm startOnce(VmStart start) {
        FakeVm known = machine.find(start.record().startId());
        if (known != null) {
            return known;
        }
        FakeVm vm =
                FakeVm.load(start.record(), start.files(), start.restore(), clock, machine, faults);
        start.permit().demand();
        machine.add(vm);
        vm.fakeGuest().bind(start.identity().hostname(), start.identity().maxProcesses());
        vm.fakeGuest().setFrozen(false);
        return vm;
    }

    @Override
    public Optional<Vm> adopt(VmRecord record, VmFiles files, GuestToken token) {
        FakeVm vm = machine.find(record.startId());
        if (vm != null) {
            synchronized (this) {
                free.remove(record.slot().number());
            }
            if (vm.held().isHeld()) {
                vm.held().interrupt();
            }
        }
        return Optional.ofNullable(vm);
    }

    @Override
    public VmExit exitOf(VmRecord record) {
        return machine.exitOf(record.startId());
    }

    @Override
    public void releaseAllBut(List<VmRecord> known) {
        Set<Integer> kept = new HashSet<>();
        known.forEach(vm -> kept.add(vm.slot().number()));
        for (int slot = 0; slot < slots; slot++) {
            if (!kept.contains(slot)) {
                releaseSlot(new Slot(slot, Slot.NO_GROUP));
            }
        }
    }

    @Override
    public void close() {}
}
