package dev.space.node.engine.qemu;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.guest.channel.Token;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.nativeabi.PidFd;
import dev.space.node.engine.spi.Engine;
import dev.space.node.engine.spi.EngineInfo;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.engine.spi.WaitingVm;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** MicroVMs by QEMU. */
public final class QemuEngine implements Engine {

    public static final String NAME = "qemu";

    private final VmmLauncher launcher;
    private final Bundles bundles;
    private final Accelerator accelerator;
    private final SlotPool slots;
    private final long tscKhz = HostClock.tscKhz();

    public QemuEngine(
            VmmLauncher launcher, Bundles bundles, Accelerator accelerator, int slotCount) {
        this.launcher = launcher;
        this.bundles = bundles;
        this.accelerator = accelerator;
        this.slots = new SlotPool(launcher, slotCount);
    }

    @Override
    public EngineInfo info() {
        return new EngineInfo(
                NAME, "", accelerator.name(), true, false, Set.of("file-migration"), slots.size());
    }

    @Override
    public Slot acquireSlot() {
        return slots.acquire();
    }

    @Override
    public void releaseSlot(Slot slot) {
        slots.release(slot);
    }

    @Override
    public int freeSlots() {
        return slots.free();
    }

    @Override
    public String bundle(String digest) {
        return accelerator.bundle(digest);
    }

    @Override
    public boolean hasBundle(String bundle) {
        return accelerator.loads(bundle) && bundles.has(Accelerator.digest(bundle));
    }

    @Override
    public WaitingVm prepare(VmRecord record, VmFiles files) {
        return open(record, files, true);
    }

    @Override
    public Vm start(VmStart start) {
        return open(start.record(), start.files(), start.restore()).load(start);
    }

    private WaitingQemu open(VmRecord record, VmFiles files, boolean restore) {
        if (!hasBundle(record.bundle())) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_INCOMPATIBLE,
                    "engine bundle "
                            + record.bundle()
                            + " is not on this node, which runs guests by "
                            + accelerator.name());
        }
        return WaitingQemu.open(
                launcher,
                record,
                files,
                QemuArguments.of(record.size(), restore, tscKhz, accelerator));
    }

    @Override
    public Optional<Vm> adopt(VmRecord record, VmFiles files, GuestToken token) {
        OptionalInt pid = launcher.running(record);
        if (pid.isEmpty()) {
            return Optional.empty();
        }
        slots.adopt(record.slot());
        PidFd process = WaitingQemu.process(pid.getAsInt());
        // Asked again with the descriptor held: it is the process that the slot's cgroup has.
        if (launcher.running(record).isEmpty()) {
            process.close();
            return Optional.empty();
        }
        // An earlier process may have held it: a VMM that stands still answers nothing.
        boolean held = launcher.isFrozen(record.slot().number());
        launcher.thaw(record.slot().number());
        QmpClient qmp = QmpClient.connect(files.directory().resolve("qmp.sock"));
        WaitingQemu.setCapabilities(qmp);
        JsonNode status = qmp.command("query-status", Map.of(), QemuVm.COMMAND_TIMEOUT);
        boolean stopped = !status.path("running").asBoolean();
        GuestLink link =
                new GuestLink(files.directory().resolve("agent.sock"), Token.of(token.bytes()));
        QemuVm vm = new QemuVm(record, files, launcher, qmp, link, stopped);
        vm.watch(process);
        if (held) {
            vm.held().interrupt();
        }
        return Optional.of(vm);
    }

    @Override
    public VmExit exitOf(VmRecord record) {
        return launcher.exitOf(record);
    }

    @Override
    public void releaseAllBut(List<VmRecord> known) {
        slots.releaseAllBut(known.stream().map(vm -> vm.slot().number()).toList());
    }

    @Override
    public void close() {
        slots.close();
    }
}
