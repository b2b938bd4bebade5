package dev.space.node.engine.qemu;

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
import dev.space.node.engine.spi.GuestIdentity;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.engine.spi.WaitingVm;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A QEMU that is up and connected. With {@code -incoming defer} it waits for what it is to load;
 * else its guest boots meanwhile.
 */
final class WaitingQemu implements WaitingVm {

    private static final Logger LOG = LoggerFactory.getLogger(WaitingQemu.class);

    private static final Duration BOOT_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration RESTORE_TIMEOUT = Duration.ofSeconds(30);

    private final QemuVm vm;
    private final QmpClient qmp;
    private final GuestLink link;
    private final Map<String, Long> phases;

    private WaitingQemu(QemuVm vm, QmpClient qmp, GuestLink link, Map<String, Long> phases) {
        this.vm = vm;
        this.qmp = qmp;
        this.link = link;
        this.phases = phases;
    }

    static WaitingQemu open(
            VmmLauncher launcher, VmRecord record, VmFiles files, List<String> arguments) {
        Map<String, Long> phases = new TreeMap<>();
        long begin = System.nanoTime();
        int pid = launcher.start(record, files, arguments);
        begin = phase(phases, "vmm", begin);
        QmpClient qmp = null;
        GuestLink link = null;
        try {
            PidFd process = process(pid);
            qmp = QmpClient.connect(files.directory().resolve("qmp.sock"));
            setCapabilities(qmp);
            phase(phases, "qmp", begin);
            link = new GuestLink(files.directory().resolve("agent.sock"), Token.UNSET);
            QemuVm vm = new QemuVm(record, files, launcher, qmp, link, false);
            vm.watch(process);
            link.connect();
            return new WaitingQemu(vm, qmp, link, phases);
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

    @Override
    public Vm load(VmStart start) {
        long begin = System.nanoTime();
        try {
            vm.become(start.record(), start.files());
            Token next = Token.of(start.newToken().bytes());
            link.expect(start.files().directory().resolve("agent.sock"), next);
            if (start.restore()) {
                loadMemory();
                start.permit().demand();
                var _ = qmp.command("cont", Map.of(), QemuVm.COMMAND_TIMEOUT);
                begin = phase(phases, "load", begin);
            }
            // A cold boot has run until here, but nothing of the session's: its daemon waits.
            start.permit().demand();
            Token known = start.restore() ? Token.of(start.token().bytes()) : Token.UNSET;
            List<Reply> replies =
                    link.begin(
                            Handshake.afterStart(known, next),
                            List.of(bind(start.identity())),
                            start.restore() ? RESTORE_TIMEOUT : BOOT_TIMEOUT);
            tellOfHooks(start.record(), replies.getFirst().getBound());
            phase(phases, "guest", begin);
            vm.setPhases(phases);
            return vm;
        } catch (RuntimeException e) {
            vm.end();
            throw e;
        }
    }

    private void loadMemory() {
        qmp.clearMigrationEvents();
        var _ =
                qmp.command(
                        "migrate-incoming",
                        Map.of("uri", "file:/vm/device"),
                        QemuVm.COMMAND_TIMEOUT);
        qmp.awaitMigration(QemuVm.MIGRATION_TIMEOUT);
    }

    @Override
    public VmHold held() {
        return vm.held();
    }

    @Override
    public void end() {
        vm.end();
    }

    @Override
    public CompletableFuture<VmExit> exit() {
        return vm.exit();
    }

    private static long phase(Map<String, Long> phases, String name, long begin) {
        long now = System.nanoTime();
        phases.put(name, (now - begin) / 1000);
        return now;
    }

    static void setCapabilities(QmpClient qmp) {
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

    static Request bind(GuestIdentity identity) {
        return GuestClient.bindRequest(
                Bind.newBuilder()
                        .setHostname(identity.hostname())
                        .setMaxProcesses(identity.maxProcesses())
                        .setDefaultUser(identity.user())
                        .setForked(identity.forked())
                        .build());
    }

    /** The child goes on all the same: the template's author has to know, not the user to wait. */
    private static void tellOfHooks(VmRecord record, Bound bound) {
        if (bound.getHooks() != HooksOutcome.HOOKS_OUTCOME_FINE) {
            LOG.warn("{}: hooks of the fork: {}", record.session(), bound.getHooks());
        }
    }

    static PidFd process(int pid) {
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
}
