package dev.space.node.engine.qemu;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.sandbox.MemoryBudget;
import dev.space.privileged.PrivilegedClient;
import dev.space.privileged.PrivilegedException;
import dev.space.privileged.Request;
import dev.space.privileged.SlotInfo;
import dev.space.privileged.VmDirectory;
import dev.space.privileged.VmmExit;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/** Asks node-manager, the only process that may start a VMM. */
public final class ManagerLauncher implements VmmLauncher {

    private static final int TASKS_MAX = 128;
    private static final int CPU_PERCENT = 100;

    /** For the VMM's own threads: without it a busy guest was throttled in most periods. */
    private static final int VMM_PERCENT = 50;

    private final PrivilegedClient client;

    public ManagerLauncher(PrivilegedClient client) {
        this.client = client;
    }

    @FunctionalInterface
    private interface Call<T> {
        T run() throws PrivilegedException;
    }

    private static <T> T ask(String what, Call<T> call) {
        try {
            return call.run();
        } catch (PrivilegedException e) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED,
                    "node-manager could not " + what + " (" + e.code() + "): " + e.getMessage(),
                    e);
        }
    }

    private static void tell(String what, Action action) {
        var _ =
                ask(
                        what,
                        () -> {
                            action.run();
                            return true;
                        });
    }

    @FunctionalInterface
    private interface Action {
        void run() throws PrivilegedException;
    }

    @Override
    public int ensureSlot(int slot) {
        return ask("make slot " + slot, () -> client.ensureSlot(slot));
    }

    @Override
    public int start(VmRecord record, VmFiles files, List<String> arguments) {
        long memory = record.size().memoryMiB() + (MemoryBudget.OVERHEAD_BYTES >> 20);
        Request.StartVmm request =
                new Request.StartVmm(
                        record.slot().number(),
                        record.startId(),
                        directory(files.directory()),
                        Accelerator.digest(record.bundle()),
                        (int) memory,
                        record.size().vcpus() * CPU_PERCENT + VMM_PERCENT,
                        TASKS_MAX,
                        arguments);
        return ask("start the VMM", () -> client.startVmm(request));
    }

    /** {@code volumes/VOLUME/AREA/NAME/live}, by its names. */
    private static VmDirectory directory(Path live) {
        int names = live.getNameCount();
        String area = live.getName(names - 3).toString();
        for (VmDirectory.Area known : VmDirectory.Area.values()) {
            if (known.directory().equals(area)) {
                return new VmDirectory(
                        live.getName(names - 4).toString(),
                        known,
                        live.getName(names - 2).toString());
            }
        }
        throw new IllegalArgumentException("no place for a VM: " + live);
    }

    @Override
    public OptionalInt running(VmRecord record) {
        return slots().stream()
                .filter(s -> s.slot() == record.slot().number())
                .filter(s -> s.alive() && s.startId() == record.startId() && s.pid() > 0)
                .mapToInt(SlotInfo::pid)
                .findFirst();
    }

    private List<SlotInfo> slots() {
        return ask("describe its slots", client::describeSlots);
    }

    @Override
    public void freeze(int slot) {
        tell("freeze the VMM of slot " + slot, () -> client.freezeSlot(slot));
    }

    @Override
    public boolean isFrozen(int slot) {
        return slots().stream().anyMatch(s -> s.slot() == slot && s.frozen());
    }

    @Override
    public void thaw(int slot) {
        tell("thaw the VMM of slot " + slot, () -> client.thawSlot(slot));
    }

    @Override
    public void kill(int slot) {
        tell("end the VMM of slot " + slot, () -> client.killVmm(slot));
    }

    @Override
    public VmExit exitOf(VmRecord record) {
        VmmExit exit =
                ask(
                        "read an exit",
                        () -> client.readExit(record.slot().number(), record.startId()));
        if (exit.oomKills() > 0) {
            return new VmExit(
                    VmExit.Reason.OUT_OF_MEMORY, -1, exit.value(), "the VM's cgroup ran out");
        }
        return switch (exit.state()) {
            case EXITED ->
                    new VmExit(
                            exit.value() == 0 ? VmExit.Reason.SHUTDOWN : VmExit.Reason.ERROR,
                            exit.value(),
                            0,
                            exit.message());
            case SIGNALED -> new VmExit(VmExit.Reason.KILLED, -1, exit.value(), exit.message());
            case RUNNING, UNKNOWN ->
                    new VmExit(VmExit.Reason.KILLED, -1, 0, "gone without a record");
        };
    }

    @Override
    public void release(int slot) {
        tell("release slot " + slot, () -> client.releaseSlot(slot));
    }

    @Override
    public List<Integer> occupied() {
        return slots().stream().map(SlotInfo::slot).toList();
    }
}
