package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.cli.platform.HostDisk;
import dev.space.cli.platform.Json;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.supervisor.PlatformState;
import dev.space.cli.supervisor.ServiceState;
import dev.space.cli.supervisor.SupervisorHandle;
import dev.space.client.ApiException;
import dev.space.client.Session;
import dev.space.client.SpaceClient;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description =
                "Shows each process, node and session. Exit code 0 when the platform is ready.")
public final class StatusCommand implements Callable<Integer> {

    @Mixin PlatformOptions options;

    @Option(names = "--json", description = "The same as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        Platform platform = options.platform();
        SupervisorHandle handle = new SupervisorHandle(platform, new Progress());
        if (PlatformOptions.isRoot() && handle.isOrphaned()) {
            System.err.println("space: the supervisor is gone; starting one that adopts the rest");
            handle.up();
        }
        Optional<PlatformState> state = PlatformState.live(platform);
        if (json) {
            System.out.println(Json.MAPPER.writeValueAsString(asJson(platform, state)));
        } else {
            print(platform, state);
        }
        return state.filter(StatusCommand::isReady).isPresent() ? 0 : 1;
    }

    private static boolean isReady(PlatformState state) {
        return state.phase() == PlatformState.Phase.READY;
    }

    /** The supervisor's state with the API's nodes and sessions beside it, where it answers. */
    private static ObjectNode asJson(Platform platform, Optional<PlatformState> state) {
        ObjectNode all = Json.MAPPER.createObjectNode();
        all.put("data", platform.data().toString());
        if (state.isEmpty()) {
            return all.put("phase", "DOWN");
        }
        all.setAll((ObjectNode) Json.MAPPER.valueToTree(state.get()));
        HostDisk.complaint(platform).ifPresent(full -> all.put("diskFault", full));
        if (isReady(state.get())) {
            try (SpaceClient client = ApiAccess.open(platform);
                    SpaceClient sessions = ApiAccess.widest(platform)) {
                all.set("nodes", withFigures(platform, client.get("/v1/nodes").path("nodes")));
                all.set("sessions", Json.MAPPER.valueToTree(sessions.sessions()));
            } catch (ApiException | PlatformException e) {
                all.put("apiFault", e.getMessage());
            }
        }
        return all;
    }

    private static JsonNode withFigures(Platform platform, JsonNode nodes) {
        Map<String, NodePools.Figures> all = NodePools.of(platform);
        for (JsonNode node : nodes) {
            NodePools.Figures own = all.get(node.path("id").asText());
            if (own != null && node instanceof ObjectNode fields) {
                fields.set("pool", Json.MAPPER.valueToTree(own.pool()));
                if (own.snapshots() != null) {
                    fields.set("snapshots", Json.MAPPER.valueToTree(own.snapshots()));
                }
            }
        }
        return nodes;
    }

    private static void print(Platform platform, Optional<PlatformState> state) {
        if (state.isEmpty()) {
            System.out.println("platform " + platform.data() + ": down");
            return;
        }
        PlatformState now = state.get();
        System.out.printf("platform %s: %s %s%n", platform.data(), now.phase(), now.detail());
        HostDisk.complaint(platform).ifPresent(full -> System.out.println("DISK FULL: " + full));
        System.out.printf("%n%-14s %-9s %8s %8s  %s%n", "PROCESS", "STATE", "PID", "RESTARTS", "");
        for (ServiceState s : now.services()) {
            System.out.printf(
                    "%-14s %-9s %8d %8d  %s%n",
                    s.name(), s.phase(), s.pid(), s.restarts(), s.detail());
        }
        if (isReady(now)) {
            printFromApi(platform);
        }
    }

    private static String mib(JsonNode bytes) {
        return (bytes.asLong() >> 20) + " MiB";
    }

    private static String words(NodePools.@Nullable Figures own) {
        return own == null
                ? "-"
                : own.pool().hot() + " hot, " + own.pool().prepared() + " prepared";
    }

    /** What is measured only where there is a bound is not told without one. */
    static String words(NodePools.@Nullable Snapshots own) {
        if (own == null || (own.bytesMax() == 0 && own.sessionBytesMax() == 0)) {
            return "-";
        }
        return "%d MiB%s, largest session %d MiB%s"
                .formatted(
                        own.bytes() >> 20,
                        of(own.bytesMax()),
                        own.largestSessionBytes() >> 20,
                        of(own.sessionBytesMax()));
    }

    private static String of(long bound) {
        return bound == 0 ? "" : " of " + (bound >> 20);
    }

    private static void printFromApi(Platform platform) {
        try (SpaceClient client = ApiAccess.open(platform);
                SpaceClient sessions = ApiAccess.widest(platform)) {
            System.out.printf(
                    "%n%-14s %-6s %-7s %-6s %-12s %-16s %-14s %-20s %s%n",
                    "NODE",
                    "ALIVE",
                    "ENGINE",
                    "ACCEL",
                    "SLOTS FREE",
                    "MEMORY FREE",
                    "DISK FREE",
                    "POOL",
                    "SNAPSHOTS");
            Map<String, NodePools.Figures> figures = NodePools.of(platform);
            for (JsonNode node : client.get("/v1/nodes").path("nodes")) {
                NodePools.Figures own = figures.get(node.path("id").asText());
                System.out.printf(
                        "%-14s %-6s %-7s %-6s %-12s %-16s %-14s %-20s %s%n",
                        node.path("id").asText(),
                        node.path("cordoned").asBoolean() ? "drains" : node.path("alive").asText(),
                        node.path("engine").asText(),
                        node.path("accelerator").asText(),
                        node.path("slotsFree").asInt() + " of " + node.path("slots").asInt(),
                        mib(node.path("memoryFreeBytes")),
                        mib(node.path("diskFreeBytes")),
                        words(own),
                        words(own == null ? null : own.snapshots()));
            }
            printSessions(sessions.sessions());
        } catch (ApiException e) {
            System.out.println("the API does not answer: " + e.getMessage());
        } catch (PlatformException e) {
            System.out.println("nodes and sessions are not shown: " + e.getMessage());
        }
    }

    private static void printSessions(List<Session> sessions) {
        if (sessions.isEmpty()) {
            System.out.printf("%nno sessions%n");
            return;
        }
        System.out.printf("%n%-32s %-10s %-8s %s%n", "SESSION", "STATE", "NODE", "TEMPLATE");
        for (Session s : sessions) {
            String node = s.node() == null ? "-" : s.node();
            System.out.printf("%-32s %-10s %-8s %s%n", s.id(), s.state(), node, s.template());
        }
    }
}
