package dev.space.cli.command;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.client.ApiException;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Takes the sessions of every project off a node, with the operator's key. */
final class NodeDrain {

    /** What was on its way there comes late: it looks again, but not for ever. */
    private static final int ROUNDS_MAX = 3;

    private final Platform platform;
    private final String node;
    private final Consumer<String> progress;

    NodeDrain(Platform platform, String node, Consumer<String> progress) {
        this.platform = platform;
        this.node = node;
        this.progress = progress;
    }

    /** Tells the control plane what is done with the node. */
    void nodeIs(String action) {
        try (SpaceClient client = ApiAccess.operator(platform)) {
            var _ = client.post("/v1/nodes/" + node + "/" + action, null);
        }
    }

    /** Suspends what is on the node, or pauses what runs; fails when something stays. */
    void drain(boolean suspend) {
        nodeIs("cordon");
        try {
            drained(suspend);
        } catch (RuntimeException e) {
            nodeIs("uncordon"); // it goes on
            throw e;
        }
    }

    private void drained(boolean suspend) {
        Set<String> states =
                suspend ? Set.of("NEW", "RUNNING", "PAUSED") : Set.of("NEW", "RUNNING");
        Map<String, String> faults = new TreeMap<>();
        try (SpaceClient client = ApiAccess.operator(platform)) {
            for (int round = 0; round < ROUNDS_MAX; round++) {
                List<Session> left =
                        client.sessions().stream()
                                .filter(s -> node.equals(s.node()) && states.contains(s.state()))
                                .toList();
                if (left.isEmpty()) {
                    return;
                }
                faults.clear();
                for (Session session : left) {
                    one(client, session.id(), suspend ? "suspend" : "pause", faults);
                }
            }
        }
        if (!faults.isEmpty()) {
            throw new PlatformException(
                    "node %s is not stopped, these stay: %s; `--drain none` stops it anyway"
                            .formatted(node, faults));
        }
    }

    private void one(SpaceClient client, String id, String command, Map<String, String> faults) {
        try {
            var _ = client.command(id, command);
            progress.accept(command + " " + id + ": done");
        } catch (ApiException e) {
            progress.accept(command + " " + id + ": " + e.getMessage());
            faults.put(id, String.valueOf(e.getMessage()));
        }
    }
}
