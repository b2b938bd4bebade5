package dev.space.node.engine.fake;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.Vm;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.engine.spi.VmRecord;
import dev.space.node.engine.spi.VmStart;
import dev.space.node.volumes.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A VM of the fake engine: a guest in memory that writes itself into its files when it stops. */
final class FakeVm implements Vm {

    private final VmHold hold = new VmHold(() -> {}, () -> {});
    private volatile VmRecord record;
    private volatile VmFiles files;
    private final FakeGuest guest;
    private final FakeMachine machine;
    private final FaultPlan faults;
    private final CompletableFuture<VmExit> exit = new CompletableFuture<>();

    private FakeVm(
            VmRecord record,
            VmFiles files,
            FakeGuest guest,
            FakeMachine machine,
            FaultPlan faults) {
        this.record = record;
        this.files = files;
        this.guest = guest;
        this.machine = machine;
        this.faults = faults;
    }

    static FakeVm load(
            VmRecord record,
            VmFiles files,
            boolean restore,
            InstantSource clock,
            FakeMachine machine,
            FaultPlan faults) {
        try {
            Map<String, FakeDisk.Entry> disk = readDisk(files.disk());
            FakeMemory memory = restore ? readMemory(files.ram()) : null;
            FakeGuest guest = new FakeGuest(disk, memory, clock);
            FakeVm vm = new FakeVm(record, files, guest, machine, faults);
            guest.onPanic(
                    () -> vm.die(new VmExit(VmExit.Reason.PANIC, -1, 0, "the guest panicked")));
            return vm;
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED, "the fake VM's files cannot be read", e);
        }
    }

    /** JSON, then zeros up to the file's size, as a disk image has. */
    private static Map<String, FakeDisk.Entry> readDisk(Path file) throws IOException {
        byte[] content = trimmed(file);
        if (content.length == 0) {
            return Map.of();
        }
        return Json.MAPPER.readValue(content, new TypeReference<>() {});
    }

    private static @Nullable FakeMemory readMemory(Path file) throws IOException {
        byte[] content = trimmed(file);
        return content.length == 0 ? null : Json.MAPPER.readValue(content, FakeMemory.class);
    }

    private static byte[] trimmed(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int end = content.length;
        while (end > 0 && content[end - 1] == 0) {
            end--;
        }
        return Arrays.copyOf(content, end);
    }

    private void writeBoth() {
        write(files.disk(), guest.files());
        write(files.ram(), guest.memory());
    }

    /**
     * In one step, as a clone of a real disk sees it; the file keeps its times if nothing changed.
     */
    private synchronized void write(Path file, Object content) {
        try {
            byte[] bytes = Json.MAPPER.writeValueAsBytes(content);
            if (!Arrays.equals(bytes, Files.readAllBytes(file))) {
                Path next = file.resolveSibling(file.getFileName() + ".next");
                Files.write(next, bytes);
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new SpaceException(
                    ErrorCode.ENGINE_FAILED, "the fake VM's files cannot be written", e);
        }
    }

    FakeGuest fakeGuest() {
        return guest;
    }

    private <T> T call(String name, Supplier<T> body) {
        return faults.call(name, body);
    }

    private void requireAlive() {
        if (exit.isDone()) {
            throw new SpaceException(ErrorCode.ENGINE_FAILED, "the fake VM has ended");
        }
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
        return Map.of();
    }

    @Override
    public boolean quiesce() {
        hold.aside();
        return call(
                "quiesce",
                () -> {
                    requireAlive();
                    guest.setFrozen(true);
                    return true;
                });
    }

    @Override
    public void thaw() {
        hold.allow();
        guest.setFrozen(false);
    }

    @Override
    public void writeBack() {
        requireAlive();
        writeBoth();
    }

    @Override
    public void writeBackDisk() {
        requireAlive();
        write(files.disk(), guest.files());
    }

    @Override
    public boolean freezeFileSystem() {
        return call(
                "freezeFileSystem",
                () -> {
                    requireAlive();
                    write(files.disk(), guest.files());
                    return true;
                });
    }

    @Override
    public void thawFileSystem() {
        requireAlive();
    }

    @Override
    public void stop() {
        hold.aside();
        var _ =
                call(
                        "stop",
                        () -> {
                            requireAlive();
                            guest.setStopped(true);
                            return true;
                        });
    }

    @Override
    public void saveDevice() {
        var _ =
                call(
                        "saveDevice",
                        () -> {
                            requireAlive();
                            writeBoth();
                            return true;
                        });
    }

    @Override
    public void resume() {
        hold.allow();
        requireAlive();
        guest.setStopped(false);
        guest.setFrozen(false);
    }

    @Override
    public void handOver(VmStart start) {
        try {
            var _ = call("handOver", () -> become(start));
        } catch (SpaceException e) {
            end();
            throw e;
        }
    }

    private boolean become(VmStart start) {
        requireAlive();
        start.permit().demand();
        record = start.record();
        files = start.files();
        guest.bind(start.identity().hostname(), start.identity().maxProcesses());
        guest.setStopped(false);
        guest.setFrozen(false);
        hold.allow();
        return true;
    }

    @Override
    public VmHold held() {
        return hold;
    }

    @Override
    public boolean isStopped() {
        return guest.isStopped();
    }

    @Override
    public void end() {
        die(new VmExit(VmExit.Reason.KILLED, -1, 9, "ended by the node"));
    }

    /** A disk keeps what was written; memory is gone. */
    void die(VmExit how) {
        if (exit.isDone()) {
            return;
        }
        if (Files.exists(files.disk())) {
            writeBoth();
        }
        guest.destroy();
        machine.ended(record.startId(), how);
        exit.complete(how);
    }

    @Override
    public CompletableFuture<VmExit> exit() {
        return exit;
    }

    @Override
    public void detach() {}
}
