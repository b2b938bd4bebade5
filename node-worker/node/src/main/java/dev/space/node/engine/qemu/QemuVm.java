package dev.space.node.engine.qemu;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.guest.channel.Gate;
import dev.space.guest.channel.GuestClient;
import dev.space.guest.channel.Handshake;
import dev.space.guest.channel.Token;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.nativeabi.Durable;
import dev.space.nativeabi.PidFd;
import dev.space.node.Pause;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One QEMU process, by its control socket, its guest's channel and its process descriptor. */
final class QemuVm implements Vm {

    private static final Logger LOG = LoggerFactory.getLogger(QemuVm.class);

    static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);
    static final Duration MIGRATION_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration FINISH_MAX = Duration.ofSeconds(2);
    private static final Duration FINISH_LOOK = Duration.ofMillis(1);
    private static final Duration GUEST_SYNC_MAX = Duration.ofSeconds(5);
    private static final Duration FREEZE_DISK_MAX = Duration.ofSeconds(2);
    private static final Duration RECONNECT_TIMEOUT = Duration.ofSeconds(30);

    /** A hot guest answers within milliseconds; one that does not is given up for a cold one. */
    private static final Duration HAND_OVER_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration POLL = Duration.ofSeconds(5);
    private static final Duration END_TIMEOUT = Duration.ofSeconds(10);

    /** A console log longer than this is emptied; the guest writes it. */
    private static final long CONSOLE_BYTES_MAX = 1 << 20;

    private volatile VmRecord record;
    private volatile VmFiles files;
    private final VmmLauncher launcher;
    private final QmpClient qmp;
    private final GuestLink link;
    private final QemuGuest guest;
    private final CompletableFuture<VmExit> exit = new CompletableFuture<>();
    private volatile Map<String, Long> phases = Map.of();
    private volatile boolean detached;
    private final VmHold hold;
    private boolean stopped;
    private @Nullable Gate gate;

    QemuVm(
            VmRecord record,
            VmFiles files,
            VmmLauncher launcher,
            QmpClient qmp,
            GuestLink link,
            boolean stopped) {
        this.record = record;
        this.files = files;
        this.launcher = launcher;
        this.qmp = qmp;
        this.link = link;
        this.guest = new QemuGuest(link);
        this.stopped = stopped;
        int slot = record.slot().number();
        this.hold = new VmHold(() -> launcher.freeze(slot), () -> launcher.thaw(slot));
    }

    /** Notices the end of the process, by a descriptor that no other process can take. */
    void watch(PidFd process) {
        Thread.ofPlatform()
                .daemon()
                .name("vm-" + record.slot().number())
                .start(() -> awaitExit(process));
    }

    private void awaitExit(PidFd process) {
        try (process) {
            while (!detached && !process.awaitExit(POLL)) {
                trimConsole();
            }
        } catch (IOException e) {
            LOG.warn("cannot watch the VMM of {}", record.session(), e);
            return;
        }
        if (detached) {
            return;
        }
        VmExit how;
        try {
            how = withGuestsWord(launcher.exitOf(record));
        } catch (SpaceException e) {
            LOG.warn("no exit record of {}", record.session(), e);
            how = new VmExit(VmExit.Reason.KILLED, -1, 0, "ended; its record cannot be read");
        }
        link.close();
        qmp.close();
        exit.complete(how);
    }

    /** With -no-reboot a kernel panic looks like a shutdown, but for QEMU's event. */
    private VmExit withGuestsWord(VmExit exitRecord) {
        boolean reset =
                exitRecord.reason() == VmExit.Reason.SHUTDOWN
                        && qmp.shutdownReason().equals("guest-reset");
        return reset
                ? new VmExit(
                        VmExit.Reason.PANIC,
                        exitRecord.exitCode(),
                        exitRecord.signal(),
                        "the guest's kernel reset itself")
                : exitRecord;
    }

    private void trimConsole() {
        try (FileChannel console = FileChannel.open(files.console(), StandardOpenOption.WRITE)) {
            if (console.size() > CONSOLE_BYTES_MAX) {
                console.truncate(0);
            }
        } catch (IOException e) {
            LOG.debug("no console of {}", record.session(), e);
        }
    }

    void setPhases(Map<String, Long> micros) {
        phases = Map.copyOf(micros);
    }

    @Override
    public VmRecord record() {
        return record;
    }

    @Override
    public Guest guest() {
        return guest;
    }

    @Override
    public Map<String, Long> phaseMicros() {
        return phases;
    }

    @Override
    public boolean quiesce() {
        hold.aside();
        return link.client().freeze();
    }

    @Override
    public void thaw() {
        hold.allow();
        link.client().thaw();
    }

    @Override
    public void writeBack() {
        if (!hold.isHeld()) {
            syncGuest();
        }
        sync(files.ram());
        sync(files.disk());
    }

    @Override
    public void writeBackDisk() {
        syncGuest();
        sync(files.disk());
    }

    private static void sync(Path file) {
        try {
            Durable.fdatasync(file);
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED, "memory or disk could not be written back", e);
        }
    }

    @Override
    public boolean freezeFileSystem() {
        try {
            new GuestClient(link.channel(), FREEZE_DISK_MAX).freezeFileSystem(FREEZE_DISK_MAX);
            return true;
        } catch (SpaceException e) {
            LOG.warn("{} did not freeze its file system in time", record.session(), e);
            return false;
        }
    }

    @Override
    public void thawFileSystem() {
        new GuestClient(link.channel(), FREEZE_DISK_MAX).thawFileSystem();
    }

    /**
     * Files that were written are on the disk of the snapshot too, for when it is used without its
     * memory. A guest that cannot do it in time holds no snapshot up.
     */
    private void syncGuest() {
        try {
            new GuestClient(link.channel(), GUEST_SYNC_MAX).sync();
        } catch (SpaceException e) {
            LOG.warn("{} did not write its files to disk in time", record.session(), e);
        }
    }

    @Override
    public void stop() {
        hold.aside();
        if (gate == null) {
            // Never read the guest's socket while it is stopped: device state and memory would
            // disagree.
            gate = link.gate();
        }
        stopped = true;
        var _ = qmp.command("stop", Map.of(), COMMAND_TIMEOUT);
    }

    @Override
    public void saveDevice() {
        try (FileChannel device = FileChannel.open(files.device(), StandardOpenOption.WRITE)) {
            device.truncate(0);
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED, "the device state's file is not there", e);
        }
        qmp.clearMigrationEvents();
        var _ = qmp.command("migrate", Map.of("uri", "file:/vm/device"), COMMAND_TIMEOUT);
        qmp.awaitMigration(MIGRATION_TIMEOUT);
    }

    @Override
    public void resume() {
        hold.allow();
        if (stopped) {
            goOn();
            stopped = false;
        }
        Gate held = gate;
        gate = null;
        if (held != null) {
            held.close();
        }
        if (link.isReady()) {
            link.client().thaw();
        } else {
            // Adopted while it stood still. The handshake thaws.
            var _ = link.begin(Handshake.reconnect(link.token()), List.of(), RECONNECT_TIMEOUT);
        }
    }

    /** Its files were moved, or it is another session's from now on. */
    void become(VmRecord next, VmFiles place) {
        record = next;
        files = place;
    }

    @Override
    public void handOver(VmStart start) {
        try {
            become(start.record(), start.files());
            Token next = Token.of(start.newToken().bytes());
            link.expect(start.files().directory().resolve("agent.sock"), next);
            long begin = System.nanoTime();
            start.permit().demand();
            goOn();
            stopped = false;
            Gate held = gate;
            gate = null;
            if (held != null) {
                held.close();
            }
            long running = System.nanoTime();
            // The workload has been frozen since before the stop: nothing of it runs before this.
            start.permit().demand();
            var _ =
                    link.begin(
                            Handshake.afterStart(Token.of(start.token().bytes()), next),
                            List.of(WaitingQemu.bind(start.identity())),
                            HAND_OVER_TIMEOUT);
            hold.allow();
            phases =
                    Map.of(
                            "continue", (running - begin) / 1000,
                            "guest", (System.nanoTime() - running) / 1000);
        } catch (RuntimeException e) {
            end();
            throw e;
        }
    }

    /** QEMU tells that the device state is complete a moment before it can go on. */
    private void goOn() {
        long end = System.nanoTime() + FINISH_MAX.toNanos();
        while (true) {
            try {
                var _ = qmp.command("cont", Map.of(), COMMAND_TIMEOUT);
                return;
            } catch (SpaceException e) {
                if (System.nanoTime() > end || !isStopped()) {
                    throw e;
                }
            }
            try {
                Pause.of(FINISH_LOOK);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SpaceException(ErrorCode.UNAVAILABLE, "the node is stopping", e);
            }
        }
    }

    @Override
    public VmHold held() {
        return hold;
    }

    @Override
    public boolean isStopped() {
        JsonNode status = qmp.command("query-status", Map.of(), COMMAND_TIMEOUT);
        return !status.path("running").asBoolean();
    }

    @Override
    public void end() {
        Gate held = gate;
        gate = null;
        link.close();
        if (held != null) {
            held.close();
        }
        launcher.kill(record.slot().number());
        try {
            var _ = exit.get(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // Nothing is left in the cgroup; only the machine is slow to reap.
            LOG.warn("the VMM of {} is killed but not reaped yet", record.session());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public CompletableFuture<VmExit> exit() {
        return exit;
    }

    @Override
    public void detach() {
        detached = true;
        link.close();
        qmp.close();
    }
}
