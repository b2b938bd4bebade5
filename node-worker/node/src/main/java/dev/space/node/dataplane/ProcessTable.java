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
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes of one sandbox: every one is followed from its start to its end, so that a
 * background process never waits for a reader that is not there.
 */
public final class ProcessTable implements AutoCloseable, SandboxProcess.Events {

    private static final Logger LOG = LoggerFactory.getLogger(ProcessTable.class);
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Duration REATTACH_FIRST = Duration.ofMillis(50);
    private static final Duration REATTACH_MAX = Duration.ofSeconds(5);

    private static final String LIFE_FILE = "life";

    private final Path directory;
    private final Guest guest;
    private final String life;
    private final RecordKeeper records = new RecordKeeper(this::kept);
    private final Map<String, SandboxProcess> processes = new ConcurrentHashMap<>();

    /** Ended ones, in the order of their ends. */
    private final Deque<SandboxProcess> finished = new ConcurrentLinkedDeque<>();

    private volatile boolean closed;

    private ProcessTable(Path directory, Guest guest, String life) {
        this.directory = directory;
        this.guest = guest;
        this.life = life;
    }

    /**
     * The processes of a sandbox that was just started: follows every one that the guest has, each
     * from the offset reached before.
     */
    public static ProcessTable open(Path directory, Guest guest) {
        String life = Lives.begin(directory.resolveSibling(LIFE_FILE));
        return open(directory, guest, life, true);
    }

    /** As {@link #open}, for a sandbox that ran on while nobody followed. */
    public static ProcessTable adopt(Path directory, Guest guest) {
        return open(directory, guest, Lives.of(directory.resolveSibling(LIFE_FILE)), false);
    }

    private static ProcessTable open(Path directory, Guest guest, String life, boolean begins) {
        ProcessTable table = new ProcessTable(directory, guest, life);
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
                meta = ProcessMeta.found(process, life);
            }
            SandboxProcess followed = table.add(meta, begins);
            if (followed.isOver()) {
                guest.forget(followed.id());
            } else {
                table.attach(followed);
            }
        }
        known.forEach((id, meta) -> {
            if (!inGuest.contains(id)) {
                SandboxProcess gone = table.add(meta, begins);
                if (!gone.isOver()) {
                    gone.lost();
                }
            }
        });
        table.removeUnknown();
        return table;
    }

    /** Output without a record, of a process that nobody knows: its id may be used again. */
    private void removeUnknown() {
        for (Path child : Volume.children(directory)) {
            if (!processes.containsKey(child.getFileName().toString())) {
                removeTree(child);
            }
        }
    }

    private static void removeTree(Path process) {
        try {
            DurableFiles.deleteTree(process);
        } catch (IOException e) {
            LOG.warn("{} stays until the sandbox ends", process, e);
        }
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
                LOG.info("{} has no readable record; the guest may know it", child);
            }
        }
        return known;
    }

    private SandboxProcess add(ProcessMeta meta, boolean begins) {
        SandboxProcess process =
                SandboxProcess.known(directory.resolve(meta.state().id()), meta, this);
        if (begins && !process.isOver() && !process.life().equals(life)) {
            process.begin(life);
        }
        processes.put(process.id(), process);
        if (process.isOver()) {
            finished.add(process);
        }
        return process;
    }

    @Override
    public void changed(SandboxProcess process) {
        records.add(process);
    }

    @Override
    public void ended(SandboxProcess process) {
        finished.add(process);
        records.add(process);
    }

    /** Its end and output are on the node's disk. */
    private void kept(SandboxProcess process) {
        guest.forget(process.id());
        prune();
    }

    /** As below, for whoever never uses an id twice. */
    public SandboxProcess start(ProcessStart start) {
        return start(start, ByteString.EMPTY);
    }

    /**
     * Starts a process, or finds the one that an earlier attempt started under the same id.
     *
     * @param request digest of what the caller asked for; empty: not compared
     */
    public SandboxProcess start(ProcessStart start, ByteString request) {
        if (!ID.matcher(start.id()).matches()) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    "a process id has 1 to 64 letters, digits, '_' or '-'");
        }
        SandboxProcess known = processes.get(start.id());
        if (known != null) {
            return found(known, request);
        }
        GuestProcess unborn = new GuestProcess(start.id(), 0, true, 0, 0, "", "", 0, 0, 0, 0);
        SandboxProcess process =
                SandboxProcess.fresh(
                        directory.resolve(start.id()),
                        ProcessMeta.of(unborn, start, request, life),
                        this);
        SandboxProcess other = processes.putIfAbsent(start.id(), process);
        if (other != null) {
            return found(other, request);
        }
        try {
            process.started(guest.start(start, process));
        } catch (RuntimeException e) {
            forget(process);
            process.failed(e);
            throw e;
        }
        return process;
    }

    /** What another request started or is starting: it fails with that one where it cannot. */
    private static SandboxProcess found(SandboxProcess process, ByteString request) {
        process.demand(request);
        process.awaitStart();
        return process;
    }

    /** Before the records are cloned into a snapshot. */
    public void flush() {
        records.flush();
    }

    public SandboxProcess require(String id) {
        SandboxProcess process = processes.get(id);
        if (process == null) {
            throw new SpaceException(
                    ErrorCode.PROCESS_NOT_FOUND, "this sandbox has no process of that id");
        }
        return process;
    }

    /**
     * As above, for who goes on to read.
     *
     * @param reading the life in which it read before; empty: it begins
     */
    public SandboxProcess require(String id, String reading) {
        if (!reading.isEmpty() && !processes.containsKey(id)) {
            throw new SpaceException(
                    ErrorCode.PROCESS_LOST,
                    "the process is no more: the session went back to a moment before its start,"
                            + " or it ended and was forgotten");
        }
        return require(id);
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
    @Override
    public void detached(SandboxProcess process) {
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
        // Its size is counted one by one, so it is asked for only where there may be too many.
        while (processes.size() > Limits.PROCESSES_FINISHED_MAX
                && finished.size() > Limits.PROCESSES_FINISHED_MAX) {
            SandboxProcess oldest = finished.poll();
            if (oldest != null) {
                forget(oldest);
            }
        }
    }

    private void forget(SandboxProcess process) {
        processes.remove(process.id(), process);
        process.close();
        removeTree(directory.resolve(process.id()));
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
        records.close();
        processes.values().forEach(SandboxProcess::close);
        processes.values().forEach(SandboxProcess::abandoned);
    }
}
