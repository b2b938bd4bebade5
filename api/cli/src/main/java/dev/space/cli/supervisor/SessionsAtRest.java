package dev.space.cli.supervisor;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.client.ApiException;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Pauses what runs before the platform stops, and resumes exactly that after it started again.
 * First nothing new may be placed, so that the list has an end. What is to be undone is on disk
 * before it is done, so that a stop that was cut short is made good as well.
 */
final class SessionsAtRest {

    /** A session that began before nothing new was placed may show later. */
    private static final int ROUNDS_MAX = 5;

    /**
     * What a stop did.
     *
     * @param sessions that it paused
     * @param cordoned nodes that it closed; null in files of before
     */
    record Resting(List<String> sessions, @Nullable List<String> cordoned) {

        List<String> closed() {
            return cordoned == null ? List.of() : cordoned;
        }
    }

    private final SpaceClient client;
    private final Path file;
    private final Consumer<String> progress;

    /**
     * @param client with the operator's key and interface
     */
    SessionsAtRest(Platform platform, SpaceClient client, Consumer<String> progress) {
        this.client = client;
        this.file = platform.run().resolve("paused-by-down.json");
        this.progress = progress;
    }

    void pauseAll() {
        close();
        for (int round = 0; round < ROUNDS_MAX; round++) {
            List<String> running =
                    client.sessions().stream()
                            .filter(s -> s.state().equals("RUNNING") || s.state().equals("NEW"))
                            .map(Session::id)
                            .toList();
            if (running.isEmpty()) {
                return;
            }
            pause(running);
        }
    }

    private void pause(List<String> running) {
        Resting before = load();
        List<String> resting = new ArrayList<>(before.sessions());
        running.stream().filter(id -> !resting.contains(id)).forEach(resting::add);
        Json.write(file, new Resting(resting, before.closed()));
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

    /** Nothing new is placed on any node; those that are closed already stay so afterwards. */
    private void close() {
        List<String> closed = new ArrayList<>(load().closed());
        List<String> open = new ArrayList<>();
        for (JsonNode node : client.get("/v1/nodes").path("nodes")) {
            if (node.path("alive").asBoolean() && !node.path("cordoned").asBoolean()) {
                open.add(node.path("id").asText());
            }
        }
        open.stream().filter(id -> !closed.contains(id)).forEach(closed::add);
        Json.write(file, new Resting(load().sessions(), closed));
        open.forEach(id -> tell(id, "cordon"));
    }

    /** After a stop that was given up, or the next start: new ones are taken again. */
    void open() {
        Resting now = load();
        now.closed().forEach(id -> tell(id, "uncordon"));
        if (!now.closed().isEmpty()) {
            Json.write(file, new Resting(now.sessions(), List.of()));
        }
    }

    private void tell(String node, String action) {
        try {
            var _ = client.post("/v1/nodes/" + node + "/" + action, null);
        } catch (ApiException e) {
            if (e.status() == 0 || e.status() >= 500) {
                throw e;
            }
            progress.accept(action + " " + node + ": " + e.getMessage()); // a node of before
        }
    }

    void resumeAll() {
        open();
        List<String> resting = new ArrayList<>(load().sessions());
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
            Json.write(file, new Resting(resting, List.of()));
        }
    }

    private Resting load() {
        return Json.read(file, Resting.class).orElse(new Resting(List.of(), List.of()));
    }
}
