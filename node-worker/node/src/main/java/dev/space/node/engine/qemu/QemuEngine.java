package dev.space.node.engine.qemu;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.guest.channel.GuestClient;
import dev.space.guest.channel.Handshake;
import dev.space.guest.channel.Token;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.Bound;
import dev.space.guest.protocol.HooksOutcome;
import dev.space.guest.protocol.Reply;
import dev.space.guest.protocol.Request;
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
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** MicroVMs by QEMU. */
public final class QemuEngine implements Engine {

    public static final String NAME = "qemu";

    private static final Logger LOG = LoggerFactory.getLogger(QemuEngine.class);
    private static final Duration BOOT_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration RESTORE_TIMEOUT = Duration.ofSeconds(30);

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
    public Vm start(VmStart start) {
        VmRecord record = start.record();
        if (!hasBundle(record.bundle())) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_INCOMPATIBLE,
                    "engine bundle "
                            + record.bundle()
                            + " is not on this node, which runs guests by "
                            + accelerator.name());
        }
        Map<String, Long> phases = new TreeMap<>();
        long begin = System.nanoTime();
        List<String> arguments =
                QemuArguments.of(record.size(), start.restore(), tscKhz, accelerator);
        int pid = launcher.start(record, start.files(), arguments);
        begin = phase(phases, "vmm", begin);
        QmpClient qmp = null;
        GuestLink link = null;
        try {
            PidFd process = open(pid);
            qmp = QmpClient.connect(start.files().directory().resolve("qmp.sock"));
            setCapabilities(qmp);
            begin = phase(phases, "qmp", begin);
            link =
                    new GuestLink(
                            start.files().directory().resolve("agent.sock"),
                            Token.of(start.newToken().bytes()));
            QemuVm vm = new QemuVm(record, start.files(), launcher, qmp, link, false);
            vm.watch(process);
            link.connect();
            if (start.restore()) {
                load(qmp);
                start.permit().demand();
                var _ = qmp.command("cont", Map.of(), QemuVm.COMMAND_TIMEOUT);
                begin = phase(phases, "load", begin);
            }
            // A cold boot has run until here, but nothing of the session's: its daemon waits.
            start.permit().demand();
            Token known = start.restore() ? Token.of(start.token().bytes()) : Token.UNSET;
            List<Reply> replies =
                    link.begin(
                            Handshake.afterStart(known, Token.of(start.newToken().bytes())),
                            List.of(bind(start)),
                            start.restore() ? RESTORE_TIMEOUT : BOOT_TIMEOUT);
            phase(phases, "guest", begin);
            tellOfHooks(record, replies.getFirst().getBound());
            vm.setPhases(phases);
            return vm;
        } catch (RuntimeException e) {
            if (link != null) {
                link.close();
            }
            if (qmp != null) {
                qmp.close();
            }
            launcher.kill(record.slot().number());
            throw e;
        }
    }

    private static long phase(Map<String, Long> phases, String name, long begin) {
        long now = System.nanoTime();
        phases.put(name, (now - begin) / 1000);
        return now;
    }

    private static void setCapabilities(QmpClient qmp) {
        List<Map<String, ?>> on =
                List.of(
                        Map.of("capability", "x-ignore-shared", "state", true),
                        Map.of("capability", "events", "state", true));
        var _ =
                qmp.command(
                        "migrate-set-capabilities",
                        Map.of("capabilities", on),
                        QemuVm.COMMAND_TIMEOUT);
    }

    private static void load(QmpClient qmp) {
        qmp.clearMigrationEvents();
        var _ =
                qmp.command(
                        "migrate-incoming",
                        Map.of("uri", "file:/vm/device"),
                        QemuVm.COMMAND_TIMEOUT);
        qmp.awaitMigration(QemuVm.MIGRATION_TIMEOUT);
    }

    private static Request bind(VmStart start) {
        return GuestClient.bindRequest(
                Bind.newBuilder()
                        .setHostname(start.identity().hostname())
                        .setMaxProcesses(start.identity().maxProcesses())
                        .setDefaultUser(start.identity().user())
                        .setForked(start.identity().forked())
                        .build());
    }

    /** The child goes on all the same: the template's author has to know, not the user to wait. */
    private static void tellOfHooks(VmRecord record, Bound bound) {
        if (bound.getHooks() != HooksOutcome.HOOKS_OUTCOME_FINE) {
            LOG.warn("{}: hooks of the fork: {}", record.session(), bound.getHooks());
        }
    }

    private static PidFd open(int pid) {
        try {
            return PidFd.open(pid)
                    .orElseThrow(() ->
                            new SpaceException(
                                    ErrorCode.ENGINE_FAILED,
                                    "QEMU ended at once; its log says why"));
        } catch (IOException e) {
            throw new SpaceException(ErrorCode.ENGINE_FAILED, "no descriptor of QEMU", e);
        }
    }

    @Override
    public Optional<Vm> adopt(VmRecord record, VmFiles files, GuestToken token) {
        OptionalInt pid = launcher.running(record);
        if (pid.isEmpty()) {
            return Optional.empty();
        }
        slots.adopt(record.slot());
        PidFd process = open(pid.getAsInt());
        // Asked again with the descriptor held: it is the process that the slot's cgroup has.
        if (launcher.running(record).isEmpty()) {
            process.close();
            return Optional.empty();
        }
        QmpClient qmp = QmpClient.connect(files.directory().resolve("qmp.sock"));
        setCapabilities(qmp);
        JsonNode status = qmp.command("query-status", Map.of(), QemuVm.COMMAND_TIMEOUT);
        boolean stopped = !status.path("running").asBoolean();
        GuestLink link =
                new GuestLink(files.directory().resolve("agent.sock"), Token.of(token.bytes()));
        QemuVm vm = new QemuVm(record, files, launcher, qmp, link, stopped);
        vm.watch(process);
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
