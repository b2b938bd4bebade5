package dev.space.cli.supervisor;

import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Proc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Holds and publishes the supervisor's state; every change is written at once. A disk that takes no
 * more is no reason to stop supervising: what was not written is written later. Thread-safe.
 */
final class StateFile {

    /**
     * Progress is for people who wait; a supervisor that runs for months keeps the newest lines.
     */
    private static final int PROGRESS_MAX = 200;

    private final Platform platform;
    private final long pid = ProcessHandle.current().pid();
    private final long startTicks = Proc.startTicks(pid).orElseThrow();
    private final Map<String, ServiceState> services = new LinkedHashMap<>();
    private final List<String> progress = new ArrayList<>();
    private PlatformState.Phase phase = PlatformState.Phase.STARTING;
    private String detail = "";
    private boolean everWritten;
    private boolean owed;

    StateFile(Platform platform) {
        this.platform = platform;
    }

    synchronized void phase(PlatformState.Phase next, String why) {
        phase = next;
        detail = why;
        write();
    }

    synchronized void service(ServiceState state) {
        services.put(state.name(), state);
        write();
    }

    synchronized void progress(String line) {
        if (progress.size() == PROGRESS_MAX) {
            progress.removeFirst();
        }
        progress.add(line);
        write();
    }

    /** Writes what could not be written before, and what somebody cut or took away since. */
    synchronized void catchUp() {
        boolean there =
                PlatformState.last(platform)
                        .filter(s -> s.pid() == pid && s.startTicks() == startTicks)
                        .isPresent();
        if (everWritten && (owed || !there)) {
            write();
        }
    }

    /** The first one has to succeed: without it nobody would find this supervisor. */
    private void write() {
        try {
            publish();
            everWritten = true;
            owed = false;
        } catch (PlatformException e) {
            if (!everWritten) {
                throw e;
            }
            if (!owed) {
                System.err.println("space: " + e.getMessage() + "; the supervisor goes on");
            }
            owed = true;
        }
    }

    private void publish() {
        Json.write(
                PlatformState.file(platform),
                new PlatformState(
                        pid,
                        startTicks,
                        phase,
                        detail,
                        platform.release().toString(),
                        List.copyOf(services.values()),
                        List.copyOf(progress)));
    }
}
