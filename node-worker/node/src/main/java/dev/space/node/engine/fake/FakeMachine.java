package dev.space.node.engine.fake;

import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmRecord;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What a real machine keeps when the node process restarts: running VMs and how others ended. Hand
 * the same one to a second engine to see it adopt.
 */
public final class FakeMachine {

    private static final VmExit UNKNOWN =
            new VmExit(VmExit.Reason.KILLED, -1, 9, "the fake machine does not know this VM");

    private final Map<Long, FakeVm> running = new ConcurrentHashMap<>();
    private final Map<Long, VmExit> exits = new ConcurrentHashMap<>();

    @Nullable FakeVm find(long startId) {
        return running.get(startId);
    }

    void add(FakeVm vm) {
        running.put(vm.record().startId(), vm);
    }

    /** Another VM runs in this one's process from now on. */
    void replace(FakeVm shell) {
        running.remove(shell.record().startId(), shell);
    }

    void ended(long startId, VmExit exit) {
        running.remove(startId);
        exits.put(startId, exit);
    }

    VmExit exitOf(long startId) {
        return exits.getOrDefault(startId, UNKNOWN);
    }

    /** Number of VMs that run, for leak checks. */
    public int count() {
        return running.size();
    }

    /** Ends a VM from outside, as a crash would. */
    public void kill(long startId, VmExit.Reason reason) {
        FakeVm vm = running.get(startId);
        if (vm != null) {
            vm.die(new VmExit(reason, -1, 9, "killed from outside"));
        }
    }

    /** Ends every VM in a slot. */
    void clear(int slot) {
        for (FakeVm vm : running.values()) {
            if (vm.record().slot().number() == slot) {
                vm.end();
            }
        }
    }

    /** The start id of a session's VM, or -1. */
    public long startOf(SessionId session) {
        return running.values().stream()
                .map(FakeVm::record)
                .filter(vm -> vm.session().equals(session))
                .mapToLong(VmRecord::startId)
                .findFirst()
                .orElse(-1);
    }

    /** Start ids of the VMs that run. */
    public java.util.Set<Long> startIds() {
        return java.util.Set.copyOf(running.keySet());
    }
}
