package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rollback through REST: what it does to the rows, and what it refuses. */
class RollbackIT extends SharedPlatform {
    private String path = "";

    @BeforeEach
    void create() throws IOException {
        path = "/v1/sessions/" + create(DEFAULT).get("id").asText();
    }

    @AfterEach
    void destroy() throws IOException {
        ok(p().delete(path), 200);
    }

    private String checkpoint(String name) throws IOException {
        ok(p().post(path + "/checkpoint", "{\"name\":\"" + name + "\"}"), 200);
        return newest().get("id").asText();
    }

    private JsonNode snapshots() throws IOException {
        return ok(p().get(path + "/snapshots"), 200).get("snapshots");
    }

    private JsonNode newest() throws IOException {
        return snapshots().get(0);
    }

    private JsonNode rollback(String snapshot, int status) throws IOException {
        return ok(p().post(path + "/rollback", "{\"snapshot\":\"" + snapshot + "\"}"), status);
    }

    @Test
    void thePresentIsKeptAndWhatCountsIsWhereItWent() throws IOException {
        String first = checkpoint("first");
        checkpoint("second");

        JsonNode session = rollback(first, 200);
        assertThat(session.get("state").asText()).isEqualTo("RUNNING");
        assertThat(session.get("epoch").asLong()).isEqualTo(2);
        assertThat(session.get("snapshot").asText()).isEqualTo(first);
        assertThat(snapshots()).hasSize(3);

        String third = checkpoint("third");
        assertThat(ok(p().get(path), 200).get("snapshot").asText()).isEqualTo(third);
    }

    @Test
    void aPausedSessionRunsAfterwards() throws IOException {
        String first = checkpoint("first");
        ok(p().post(path + "/pause", ""), 200);
        assertThat(rollback(first, 200).get("state").asText()).isEqualTo("RUNNING");
        assertThat(snapshots()).hasSize(2);
    }

    @Test
    void aSnapshotThatIsNotTheSessionsIsNotFound() throws IOException {
        String own = checkpoint("own");
        String other = "/v1/sessions/" + create(DEFAULT).get("id").asText();
        JsonNode refused = ok(p().post(other + "/rollback", "{\"snapshot\":\"" + own + "\"}"), 404);
        assertThat(refused.get("code").asText()).isEqualTo("SNAPSHOT_NOT_FOUND");
        assertThat(ok(p().get(other), 200).get("state").asText()).isEqualTo("RUNNING");
        assertThat(ok(p().get(other), 200).get("epoch").asLong()).isEqualTo(1);
        ok(p().delete(other), 200);
    }

    @Test
    void badInputIsRefusedBeforeAnything() throws IOException {
        assertThat(rollback("snp_none", 404).get("code").asText()).isEqualTo("SNAPSHOT_NOT_FOUND");
        invalid("rollback", "{}", "snapshot is missing");
        invalid("pause", "{\"snapshot\":\"snp_x\"}", "only a rollback");
        invalid("pause", "{\"acceptLoss\":true}", "only a rollback");
        invalid("rollback", "{\"name\":\"x\"}", "only a checkpoint");
        invalid("rollback", "{\"snapshots\":\"x\"}", "snapshot");
        assertThat(ok(p().get(path + "/operations"), 200).get("operations")).hasSize(1);
    }

    private void invalid(String verb, String body, String hint) throws IOException {
        JsonNode problem = ok(p().post(path + "/" + verb, body), 400);
        assertThat(problem.get("code").asText()).isEqualTo("INVALID_ARGUMENT");
        assertThat(problem.get("detail").asText()).contains(hint);
    }
}
