package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.SessionId;
import dev.space.testkit.FakeNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One running pair of control planes for all classes of the run, started by the first. */
@ExtendWith(SharedPlatform.Starter.class)
abstract class SharedPlatform {
    private static final ObjectMapper JSON = new ObjectMapper();
    static final String DEFAULT = "{\"template\":\"default\"}";

    private static @Nullable Platform platform;

    /** Starts the platform once and stops it after the last class. */
    static final class Starter implements BeforeAllCallback {
        private static final ExtensionContext.Namespace SPACE =
                ExtensionContext.Namespace.create(SharedPlatform.class);

        @Override
        public void beforeAll(ExtensionContext context) {
            if (Platform.temporalBinary().isEmpty()) {
                System.err.println("skipped: set SPACE_TEMPORAL_BIN to the temporal binary");
                return;
            }
            Running running =
                    context.getRoot()
                            .getStore(SPACE)
                            .computeIfAbsent("platform", _ -> new Running(), Running.class);
            platform = running.platform;
        }
    }

    /** Closed with the run's root store. */
    private static final class Running implements AutoCloseable {
        private final Platform platform;

        Running() {
            try {
                Path dir = Files.createTempDirectory("space-it");
                platform = new Platform(dir, 2);
            } catch (IOException failure) {
                throw new java.io.UncheckedIOException(failure);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(stop);
            }
        }

        @Override
        public void close() throws IOException {
            platform.close();
        }
    }

    @BeforeEach
    void needsPlatform() {
        Assumptions.assumeTrue(platform != null, "no SPACE_TEMPORAL_BIN");
    }

    static Platform p() {
        return Objects.requireNonNull(platform);
    }

    static JsonNode create(String body) throws IOException {
        return ok(p().post("/v1/sessions", body), 201);
    }

    static String path(JsonNode session) {
        return "/v1/sessions/" + session.get("id").asText();
    }

    static SessionId id(JsonNode session) {
        return new SessionId(session.get("id").asText());
    }

    static JsonNode ok(HttpResponse<String> answer, int status) throws IOException {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        return JSON.readTree(answer.body().isEmpty() ? "null" : answer.body());
    }

    /** The session, once it is in this state with no operation in flight. */
    static JsonNode awaitState(String path, String state) throws IOException {
        JsonNode[] last = new JsonNode[1];
        try {
            p().await(
                            path + " " + state,
                            () -> {
                                last[0] = ok(p().get(path), 200);
                                return last[0].get("state").asText().equals(state)
                                        && !last[0].has("operation");
                            });
        } catch (AssertionError late) {
            throw new AssertionError(late.getMessage() + ": " + last[0], late);
        }
        return last[0];
    }

    /** The VMs of one session that run on the node. */
    static long running(SessionId session) {
        return p().node.node.running().stream()
                .map(FakeNode.Vm::session)
                .filter(session::equals)
                .count();
    }

    static void execute(String sql) throws SQLException {
        try (Connection connection = p().postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static String value(String sql) throws SQLException {
        try (Connection connection = p().postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        }
    }
}
