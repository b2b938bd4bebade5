package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a session was given, and what its commands print, is found nowhere but in the sandbox. */
class SecretsIT extends SharedPlatform {
    private static final String CANARY = "canary-0815-of-the-environment";

    @Test
    void anEnvironmentLeavesNoTrace() throws Exception {
        JsonNode session = create("{\"template\":\"default\",\"env\":{\"A\":\"" + CANARY + "\"}}");
        String path = path(session);
        JsonNode exec = ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 200);
        assertThat(exec.get("stdout").asText()).contains(CANARY); // so the output holds it too
        ok(p().post(path + "/exec", "{\"command\":\"x\",\"env\":{\"1\":\"" + CANARY + "\"}}"), 400);
        ok(p().post(path + "/pause", ""), 200);
        ok(p().post(path + "/resume", ""), 200);
        JsonNode fork = ok(p().post(path + "/fork", "{\"env\":{\"B\":\"" + CANARY + "\"}}"), 200);
        JsonNode child = fork.get("children").get(0);
        assertThat(
                        ok(p().post(path(child) + "/exec", "{\"command\":\"env\"}"), 200)
                                .get("stdout")
                                .asText())
                .contains("A=" + CANARY, "B=" + CANARY);
        assertThat(
                        value(
                                "SELECT count(DISTINCT env_encrypted) FROM sessions WHERE id IN ('"
                                        + id(session)
                                        + "', '"
                                        + id(child)
                                        + "')"))
                .isEqualTo("2");
        assertThat(
                        value(
                                "SELECT length(env_encrypted) > 0 FROM sessions WHERE id = '"
                                        + id(session)
                                        + "'"))
                .isEqualTo("t");
        foundNowhere(CANARY, id(session).value(), id(child).value());
        ok(p().delete(path), 200);
        ok(p().delete(path(child)), 200);
        assertThat(
                        value(
                                "SELECT env_encrypted IS NULL FROM sessions WHERE id = '"
                                        + id(session)
                                        + "'"))
                .isEqualTo("t");
    }

    /** In no log, no history of these sessions, and no row. */
    static void foundNowhere(String canary, String... sessions) throws Exception {
        for (String form : forms(canary)) {
            for (String process : List.of("control-0", "control-1", "temporal")) {
                assertThat(p().log(process)).as(process).doesNotContain(form);
            }
            for (String session : sessions) {
                assertThat(history(session)).contains("SessionWorkflow").doesNotContain(form);
            }
            assertThat(rowsWith(form)).isEmpty();
        }
    }

    /** Plain, and as JSON payloads and binary columns would show it. */
    private static List<String> forms(String canary) {
        String base64 = Base64.getEncoder().encodeToString(canary.getBytes(UTF_8));
        return List.of(
                canary, base64.substring(0, 20), HexFormat.of().formatHex(canary.getBytes(UTF_8)));
    }

    private static String history(String session) {
        StringBuilder all = new StringBuilder();
        for (var event : p().client.fetchHistory(session).getEvents()) {
            all.append(event); // text form: payload bytes are ASCII JSON, escaped only beyond it
        }
        return all.toString();
    }

    private static List<String> rowsWith(String form) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = p().postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            List<String> tables = new ArrayList<>();
            try (ResultSet rows =
                    statement.executeQuery(
                            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")) {
                while (rows.next()) {
                    tables.add(rows.getString(1));
                }
            }
            assertThat(tables).contains("sessions", "operations", "idempotency_keys", "events");
            for (String table : tables) {
                try (ResultSet rows =
                        statement.executeQuery(
                                "SELECT t::text FROM "
                                        + table
                                        + " t WHERE t::text LIKE '%"
                                        + form
                                        + "%' LIMIT 1")) {
                    if (rows.next()) {
                        found.add(table + ": " + rows.getString(1));
                    }
                }
            }
        }
        return found;
    }
}
