package dev.space.node.engine.fake;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a fake guest's {@code ram} file holds: its processes as they stood. */
record FakeMemory(String hostname, int maxProcesses, Map<String, ProcessImage> processes) {

    FakeMemory {
        processes = new TreeMap<>(processes);
    }

    /**
     * One process. Output is kept whole from {@code base} on; bytes are in base 64.
     *
     * @param todo commands still to run; the first is under way
     * @param progress how far the first one is, in its own unit
     */
    record ProcessImage(
            String id,
            int pid,
            List<List<String>> todo,
            long progress,
            boolean over,
            int exitCode,
            int signal,
            String reason,
            String detail,
            long startedMillis,
            long endedMillis,
            String stdout,
            String stderr,
            String stdin,
            boolean stdinEnded,
            long timeoutMillis) {

        ProcessImage {
            todo = List.copyOf(todo);
        }
    }
}
