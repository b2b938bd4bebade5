package dev.space.node.engine.fake;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.DataSource;
import dev.space.node.engine.spi.FileReader;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.GuestActivity;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.OutputSink;
import dev.space.node.engine.spi.ProcessStart;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A guest in memory: files, a few commands ({@code true false echo cat sleep exit counter hang
 * panic}, joined by {@code ;}), and nothing of a real machine. Stopped, it answers nobody, as a
 * real one.
 */
final class FakeGuest implements Guest {

    /** How long a call waits for a stopped VM to go on. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

    /** One step of every process; a counter counts once a tick. */
    private static final Duration TICK = Duration.ofMillis(2);

    private static final int PIECE_BYTES = 32 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final InstantSource clock;
    private final FakeDisk disk;
    private final Map<String, FakeProcess> processes = new TreeMap<>();
    private String hostname = "";
    private int maxProcesses = Integer.MAX_VALUE;
    private int lastPid = 1;
    private long lastActive;
    private boolean frozen = true;
    private boolean stopped;
    private boolean gone;
    private volatile Runnable onPanic = () -> {};

    FakeGuest(Map<String, FakeDisk.Entry> files, @Nullable FakeMemory memory, InstantSource clock) {
        this.clock = clock;
        this.disk = new FakeDisk(files, clock);
        if (memory != null) {
            memory.processes()
                    .forEach((id, image) -> processes.put(id, new FakeProcess(image, disk)));
            lastPid = 1 + processes.size();
        }
        Thread.ofVirtual().name("fake-guest").start(this::live);
    }

    private void live() {
        while (true) {
            boolean panics = false;
            lock.lock();
            try {
                if (gone) {
                    return;
                }
                if (!stopped && !frozen) {
                    processes.values().forEach(p -> p.step(TICK.toMillis(), clock.millis()));
                    panics = obeyMachineCommands();
                    changed.signalAll();
                }
                long idle = processes.values().stream().allMatch(FakeProcess::isOver) ? 1000 : 1;
                var _ = changed.awaitNanos(TICK.toNanos() * idle);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } finally {
                lock.unlock();
            }
            if (panics) {
                onPanic.run();
            }
        }
    }

    /** True when the machine is to end. */
    private boolean obeyMachineCommands() {
        boolean panics = false;
        for (FakeProcess process : processes.values()) {
            String command = process.takeMachineCommand();
            stopped |= "hang".equals(command);
            panics |= "panic".equals(command);
        }
        return panics;
    }

    // ------------------------------------------------------------ the machine's side

    void onPanic(Runnable end) {
        onPanic = end;
    }

    void bind(String name, int processesMax) {
        lock.lock();
        try {
            hostname = name;
            maxProcesses = processesMax;
        } finally {
            lock.unlock();
        }
    }

    void setFrozen(boolean now) {
        set(() -> frozen = now);
    }

    void setStopped(boolean now) {
        set(() -> stopped = now);
    }

    boolean isStopped() {
        lock.lock();
        try {
            return stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the guest; every call and delivery fails from now on. */
    void destroy() {
        set(() -> gone = true);
    }

    private void set(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    Map<String, FakeDisk.Entry> files() {
        lock.lock();
        try {
            return disk.entries();
        } finally {
            lock.unlock();
        }
    }

    FakeMemory memory() {
        lock.lock();
        try {
            Map<String, FakeMemory.ProcessImage> images = new TreeMap<>();
            processes.forEach((id, process) -> images.put(id, process.image()));
            return new FakeMemory(hostname, maxProcesses, images);
        } finally {
            lock.unlock();
        }
    }

    // ------------------------------------------------------------ the guest's side

    /** Runs a request inside the guest, once it is not stopped. */
    private <T> T inside(Supplier<T> request) {
        lock.lock();
        try {
            long nanos = CALL_TIMEOUT.toNanos();
            while (stopped && !gone && nanos > 0) {
                nanos = changed.awaitNanos(nanos);
            }
            if (gone || stopped) {
                throw unreachable();
            }
            T answer = request.get();
            changed.signalAll();
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unreachable();
        } finally {
            lock.unlock();
        }
    }

    private static SpaceException unreachable() {
        return new SpaceException(ErrorCode.GUEST_UNREACHABLE, "the fake guest is gone");
    }

    @Override
    public long pingUnixNanos() {
        return inside(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()));
    }

    @Override
    public GuestProcess start(ProcessStart start, OutputSink sink) {
        return inside(() -> {
            FakeProcess process = processes.get(start.id());
            if (process == null) {
                process = begin(start);
            }
            touched();
            deliver(process, 0, 0, sink);
            return process.state();
        });
    }

    private FakeProcess begin(ProcessStart start) {
        long running = processes.values().stream().filter(p -> !p.isOver()).count();
        if (running >= maxProcesses) {
            throw new SpaceException(
                    ErrorCode.LIMIT_EXCEEDED,
                    maxProcesses + " processes run already; wait for one to end");
        }
        String cwd = start.cwd().toString(StandardCharsets.ISO_8859_1);
        boolean here = cwd.isEmpty() || disk.isDirectory(FakeDisk.resolve(FakeDisk.home(), cwd));
        FakeMemory.ProcessImage image =
                new FakeMemory.ProcessImage(
                        start.id(),
                        ++lastPid,
                        commands(start),
                        0,
                        !here,
                        here ? 0 : 126,
                        0,
                        here ? "" : "START_FAILED",
                        here ? "" : "the working directory does not exist",
                        clock.millis(),
                        here ? 0 : clock.millis(),
                        "",
                        "",
                        "",
                        !start.stdin(),
                        start.timeoutMillis());
        FakeProcess process = new FakeProcess(image, disk);
        processes.put(start.id(), process);
        return process;
    }

    private static List<List<String>> commands(ProcessStart start) {
        if (!start.argv().isEmpty()) {
            return List.of(start.argv().stream().map(ByteString::toStringUtf8).toList());
        }
        List<List<String>> all = new ArrayList<>();
        for (String part : start.command().toStringUtf8().split(";", -1)) {
            String words = part.strip();
            if (!words.isEmpty()) {
                all.add(List.of(words.split("\\s+", -1)));
            }
        }
        return all;
    }

    @Override
    public GuestProcess attach(String id, long stdoutFrom, long stderrFrom, OutputSink sink) {
        return inside(() -> {
            FakeProcess process = require(id);
            deliver(process, stdoutFrom, stderrFrom, sink);
            return process.state();
        });
    }

    private FakeProcess require(String id) {
        FakeProcess process = processes.get(id);
        if (process == null) {
            throw new SpaceException(ErrorCode.PROCESS_NOT_FOUND, "no such process");
        }
        return process;
    }

    private void deliver(FakeProcess process, long out, long err, OutputSink sink) {
        int delivery = process.nextDelivery();
        Thread.ofVirtual()
                .name("fake-output")
                .start(() -> deliverLoop(process, delivery, out, err, sink));
    }

    private void deliverLoop(
            FakeProcess process, int delivery, long out, long err, OutputSink sink) {
        long stdoutAt = out;
        long stderrAt = err;
        while (true) {
            ByteString stdout;
            ByteString stderr;
            GuestProcess last = null;
            lock.lock();
            try {
                stdout = cut(process.output(false, stdoutAt));
                stderr = cut(process.output(true, stderrAt));
                boolean quiet = stdout.isEmpty() && stderr.isEmpty();
                if (gone || !process.isCurrent(delivery)) {
                    break;
                }
                if (stopped || (quiet && !process.isOver())) {
                    changed.await();
                    continue;
                }
                last = quiet ? process.state() : null;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } finally {
                lock.unlock();
            }
            if (last != null) {
                sink.exited(last);
                return;
            }
            sink.output(false, stdoutAt, stdout);
            sink.output(true, stderrAt, stderr);
            stdoutAt += stdout.size();
            stderrAt += stderr.size();
        }
        sink.detached(unreachable());
    }

    private static ByteString cut(ByteString bytes) {
        return bytes.size() > PIECE_BYTES ? bytes.substring(0, PIECE_BYTES) : bytes;
    }

    @Override
    public List<GuestProcess> processes() {
        return inside(() -> processes.values().stream().map(FakeProcess::state).toList());
    }

    @Override
    public long writeStdin(String id, long offset, ByteString data, boolean eof) {
        return inside(() -> {
            touched();
            return require(id).write(offset, data, eof);
        });
    }

    @Override
    public void signal(String id, int signal) {
        inside(() -> {
            require(id).kill(signal, clock.millis());
            return true;
        });
    }

    @Override
    public void forget(String id) {
        lock.lock();
        try {
            FakeProcess process = processes.get(id);
            if (!gone && !stopped && process != null && process.isOver()) {
                processes.remove(id);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public GuestFile stat(GuestPath path) {
        return inside(() -> disk.stat(FakeDisk.name(path)));
    }

    @Override
    public void list(GuestPath path, Consumer<GuestFile> each) {
        inside(() -> disk.list(FakeDisk.name(path))).forEach(each);
    }

    @Override
    public void read(GuestPath path, long offset, long length, FileReader reader) {
        GuestFile file = inside(() -> disk.stat(FakeDisk.name(path)));
        ByteString all = inside(() -> disk.read(FakeDisk.name(path)));
        reader.info(file);
        long from = Math.min(offset, all.size());
        long to = length < 0 ? all.size() : Math.min(all.size(), from + length);
        for (long at = from; at < to; at += PIECE_BYTES) {
            reader.data(all.substring((int) at, (int) Math.min(to, at + PIECE_BYTES)));
        }
    }

    @Override
    public GuestFile write(GuestPath path, int mode, boolean parents, DataSource source) {
        ByteString all = ByteString.EMPTY;
        for (ByteString part = source.next(); part != null; part = source.next()) {
            all = all.concat(part);
        }
        ByteString content = all;
        return inside(() -> {
            touched();
            return disk.write(FakeDisk.name(path), content, mode, parents);
        });
    }

    @Override
    public GuestFile makeDirectory(GuestPath path, boolean parents, int mode) {
        return inside(() -> {
            touched();
            return disk.makeDirectory(FakeDisk.name(path), parents, mode);
        });
    }

    @Override
    public void remove(GuestPath path, boolean recursive) {
        inside(() -> {
            touched();
            disk.remove(FakeDisk.name(path), recursive);
            return true;
        });
    }

    /** Never the same twice: who compares sees each request. */
    private void touched() {
        lastActive = Math.max(lastActive + 1, clock.millis());
    }

    @Override
    public GuestActivity activity() {
        return inside(() -> new GuestActivity(lastActive, 0));
    }
}
