package dev.space.cli.supervisor;

import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.client.ApiException;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Pauses what runs before the platform stops, and resumes exactly that after it started again. The
 * list is on disk before the first pause, so that a stop that was cut short is made good as well.
 */
final class SessionsAtRest {

    /** The ids of the sessions that were paused by a stop. */
    record Resting(List<String> sessions) {}

    private final SpaceClient client;
    private final Path file;
    private final Consumer<String> progress;

    SessionsAtRest(Platform platform, SpaceClient client, Consumer<String> progress) {
        this.client = client;
        this.file = platform.run().resolve("paused-by-down.json");
        this.progress = progress;
    }

    void pauseAll() {
        List<String> running =
                client.sessions().stream()
                        .filter(s -> s.state().equals("RUNNING") || s.state().equals("NEW"))
                        .map(Session::id)
                        .toList();
        if (running.isEmpty()) {
            return;
        }
        List<String> resting = new ArrayList<>(load());
        running.stream().filter(id -> !resting.contains(id)).forEach(resting::add);
        Json.write(file, new Resting(resting));
        int done = 0;
        for (String id : running) {
            done++;
            try {
                var _ = client.command(id, "pause");
                progress.accept("paused %s (%d of %d)".formatted(id, done, running.size()));
            } catch (ApiException e) {
                progress.accept("could not pause " + id + ": " + e.getMessage());
            }
        }
    }

    void resumeAll() {
        List<String> resting = new ArrayList<>(load());
        int count = resting.size();
        for (String id : List.copyOf(resting)) {
            try {
                var _ = client.command(id, "resume");
                progress.accept("resumed " + id + " (of " + count + ")");
            } catch (ApiException e) {
                if (e.status() == 0 || e.status() >= 500) {
                    progress.accept(
                            "could not resume " + id + ", kept for later: " + e.getMessage());
                    continue;
                }
                progress.accept("not resumed " + id + ": " + e.getMessage());
            }
            resting.remove(id);
            Json.write(file, new Resting(resting));
        }
    }

    private List<String> load() {
        return Json.read(file, Resting.class).map(Resting::sessions).orElse(List.of());
    }
}
