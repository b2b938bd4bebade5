package dev.space.node.dataplane;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.ProcessStart;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes of one sandbox: every one is followed from its start to its end, so that a
 * background process never waits for a reader that is not there.
 */
public final class ProcessTable implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ProcessTable.class);
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Duration REATTACH_FIRST = Duration.ofMillis(50);
    private static final Duration REATTACH_MAX = Duration.ofSeconds(5);

    private final Path directory;
    private final Guest guest;
    private final Map<String, SandboxProcess> processes = new ConcurrentHashMap<>();
    private volatile boolean closed;

    private ProcessTable(Path directory, Guest guest) {
        this.directory = directory;
        this.guest = guest;
    }

    /** Follows every process that the guest has, each from the offset reached before. */
    public static ProcessTable open(Path directory, Guest guest) {
        ProcessTable table = new ProcessTable(directory, guest);
        Map<String, ProcessMeta> known = readAll(directory);
        Set<String> inGuest = new HashSet<>();
        for (GuestProcess process : guest.processes()) {
            if (!ID.matcher(process.id()).matches()) {
                LOG.warn("the guest names a process with an impossible id; it is left alone");
                continue;
            }
            inGuest.add(process.id());
            ProcessMeta meta = known.get(process.id());
            if (meta == null) {
                meta = new ProcessMeta(process, List.of(), "");
            }
            SandboxProcess followed = table.add(meta);
            if (!followed.isOver()) {
                table.attach(followed);
            }
        }
        known.forEach((id, meta) -> {
            if (!inGuest.contains(id)) {
                SandboxProcess gone = table.add(meta);
                if (!gone.isOver()) {
                    gone.lost();
                }
            }
        });
        return table;
    }

    private static Map<String, ProcessMeta> readAll(Path directory) {
        Map<String, ProcessMeta> known = new HashMap<>();
        for (Path child : Volume.children(directory)) {
            try {
                ProcessMeta meta =
                        Json.MAPPER.readValue(
                                Files.readAllBytes(child.resolve(ProcessMeta.FILE)),
                                ProcessMeta.class);
                known.put(meta.state().id(), meta);
            } catch (IOException e) {
                LOG.warn("{} has no readable record and is skipped", child, e);
            }
        }
        return known;
    }

    private SandboxProcess add(ProcessMeta meta) {
        SandboxProcess process =
                new SandboxProcess(directory.resolve(meta.state().id()), meta, this::reattachLater);
        processes.put(process.id(), process);
        return process;
    }

    /** Starts a process, or finds the one that an earlier attempt started under the same id. */
    public SandboxProcess start(ProcessStart start) {
        if (!ID.matcher(start.id()).matches()) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    "a process id has 1 to 64 letters, digits, '_' or '-'");
        }
        SandboxProcess known = processes.get(start.id());
        if (known != null) {
            return known;
        }
        GuestProcess unborn = new GuestProcess(start.id(), 0, true, 0, 0, "", "", 0, 0, 0, 0);
        SandboxProcess process =
                new SandboxProcess(
                        directory.resolve(start.id()),
                        ProcessMeta.of(unborn, start),
                        this::reattachLater);
        SandboxProcess other = processes.putIfAbsent(start.id(), process);
        if (other != null) {
            return other;
        }
        try {
            process.started(guest.start(start, process));
        } catch (RuntimeException e) {
            forget(process);
            throw e;
        }
        prune();
        return process;
    }

    /** Before the records are cloned into a snapshot. */
    public void flush() {
        processes.values().forEach(SandboxProcess::flush);
    }

    public SandboxProcess require(String id) {
        SandboxProcess process = processes.get(id);
        if (process == null) {
            throw new SpaceException(
                    ErrorCode.PROCESS_NOT_FOUND, "this sandbox has no process of that id");
        }
        return process;
    }

    public List<SandboxProcess> list() {
        return processes.values().stream()
                .sorted(Comparator.comparingLong(p -> p.state().startedUnixMillis()))
                .toList();
    }

    private void attach(SandboxProcess process) {
        process.started(
                guest.attach(
                        process.id(), process.log(false).end(), process.log(true).end(), process));
    }

    /**
     * After the link broke: tries until it is back, the process is over, or the sandbox is gone.
     */
    private void reattachLater(SandboxProcess process) {
        if (closed || process.isOver()) {
            return;
        }
        Thread.ofVirtual()
                .name("reattach-" + process.id())
                .start(() -> {
                    Duration wait = REATTACH_FIRST;
                    while (!closed && !process.isOver()) {
                        if (tryAttach(process) || !pause(wait)) {
                            return;
                        }
                        wait = wait.multipliedBy(2);
                        wait = wait.compareTo(REATTACH_MAX) > 0 ? REATTACH_MAX : wait;
                    }
                });
    }

    private boolean tryAttach(SandboxProcess process) {
        try {
            attach(process);
            return true;
        } catch (SpaceException e) {
            if (e.code() == ErrorCode.PROCESS_NOT_FOUND) {
                process.lost();
                return true;
            }
            LOG.debug("process {} is not attached yet", process.id(), e);
            return false;
        }
    }

    private static boolean pause(Duration wait) {
        try {
            Pause.of(wait);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Keeps a bounded number of finished processes; the oldest results go first. */
    private void prune() {
        if (processes.size() <= Limits.PROCESSES_FINISHED_MAX) {
            return;
        }
        List<SandboxProcess> finished = list().stream().filter(SandboxProcess::isOver).toList();
        int surplus = finished.size() - Limits.PROCESSES_FINISHED_MAX;
        finished.stream().limit(Math.max(0, surplus)).forEach(this::forget);
    }

    private void forget(SandboxProcess process) {
        processes.remove(process.id(), process);
        process.forget();
        try {
            DurableFiles.deleteTree(directory.resolve(process.id()));
        } catch (IOException e) {
            LOG.warn("output of process {} stays until the sandbox ends", process.id(), e);
        }
    }

    /** Bytes that were written to a process's input, on behalf of a caller. */
    public long writeStdin(String id, long offset, ByteString data, boolean eof) {
        require(id);
        return guest.writeStdin(id, offset, data, eof);
    }

    public void signal(String id, int signal) {
        if (require(id).isOver()) {
            return;
        }
        guest.signal(id, signal);
    }

    @Override
    public void close() {
        closed = true;
        processes.values().forEach(SandboxProcess::close);
    }
}
