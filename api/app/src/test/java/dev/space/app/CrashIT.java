package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A VM that ends by itself: reported by its node, and what the platform makes of it. */
class CrashIT extends SharedPlatform {

    private static Fence crash(SessionId session, String reason) {
        Fence start = Objects.requireNonNull(p().node.node.exit(session), "no VM runs");
        report(session, start, reason);
        return start;
    }

    private static void report(SessionId session, Fence start, String reason) {
        long number = p().link.nextSequence();
        assertThat(p().link.vmExited(number, session.value(), start, reason, "as the test wants"))
                .isEqualTo(number);
    }

    private static JsonNode awaitEpoch(String path, long epoch) throws IOException {
        p().await(
                        path + " at epoch " + epoch,
                        () -> {
                            JsonNode now = ok(p().get(path), 200);
                            return now.get("epoch").asLong() == epoch
                                    && now.get("state").asText().equals("RUNNING")
                                    && !now.has("operation");
                        });
        return ok(p().get(path), 200);
    }

    /** The workflow that was told is gone, and a node tells only once. */
    @Test
    void aVmWhoseEndNobodyHeardOfIsRecoveredToo() throws Exception {
        JsonNode session = create(DEFAULT);
        var _ = Objects.requireNonNull(p().node.node.exit(id(session)), "no VM runs");
        JsonNode recovered = awaitEpoch(path(session), 2);
        assertThat(recovered.get("reason").get("code").asText()).isEqualTo("VM_KILLED");
        assertThat(running(id(session))).isEqualTo(1);
        ok(p().delete(path(session)), 200);
    }

    @Test
    void aCrashIsRecoveredFromTheDiskOfTheDeadVm() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        ok(p().post(path + "/checkpoint", ""), 200);
        Fence dead = crash(id(session), "PANIC");
        JsonNode recovered = awaitEpoch(path, 2);
        assertThat(recovered.get("reason").get("code").asText()).isEqualTo("GUEST_CRASH");
        assertThat(running(id(session))).isEqualTo(1);
        JsonNode operations = ok(p().get(path + "/operations"), 200).get("operations");
        assertThat(operations.findValuesAsText("kind")).containsOnlyOnce("RECOVER");
        assertThat(
                        value(
                                "SELECT state || ' ' || actor FROM operations WHERE kind = 'RECOVER' AND"
                                        + " session_id = '"
                                        + id(session)
                                        + "'"))
                .isEqualTo("DONE platform");
        JsonNode events = ok(p().get(path + "/events"), 200).get("events");
        assertThat(events.findValuesAsText("action")).contains("vm_exited", "recover");
        JsonNode snapshots = ok(p().get(path + "/snapshots"), 200).get("snapshots");
        assertThat(snapshots.findValuesAsText("kind")).containsExactlyInAnyOrder("FULL", "DISK");
        report(id(session), dead, "PANIC"); // an old report, sent again
        ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 200);
        assertThat(ok(p().get(path), 200).get("epoch").asLong()).isEqualTo(2);
        ok(p().delete(path), 200);
    }

    @Test
    void aCrashLoopEndsInFailedAndAUserMayGoOn() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        for (int epoch = 1; epoch <= 3; epoch++) {
            crash(id(session), "OUT_OF_MEMORY");
            awaitEpoch(path, epoch + 1L);
        }
        crash(id(session), "OUT_OF_MEMORY");
        JsonNode failed = awaitState(path, "FAILED");
        assertThat(failed.get("reason").get("code").asText()).isEqualTo("CRASH_LOOP");
        assertThat(failed.get("reason").get("text").asText()).contains("OUT_OF_MEMORY");
        assertThat(running(id(session))).isZero();
        JsonNode refused = ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 409);
        assertThat(refused.get("code").asText()).isEqualTo("SESSION_FAILED");
        assertThat(refused.get("allowed").toString()).contains("recover");
        JsonNode recovered = ok(p().post(path + "/recover", ""), 200);
        assertThat(recovered.get("state").asText()).isEqualTo("RUNNING");
        ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 200);
        ok(p().delete(path), 200);
        assertThat(running(id(session))).isZero();
    }

    @Test
    void aReportOfAPausedVmChangesNothing() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        Fence start = Objects.requireNonNull(p().node.node.vm(id(session))).start();
        ok(p().post(path + "/pause", ""), 200);
        report(id(session), start, "SHUTDOWN");
        ok(p().post(path + "/resume", ""), 200);
        JsonNode operations = ok(p().get(path + "/operations"), 200).get("operations");
        assertThat(operations.findValuesAsText("kind")).doesNotContain("RECOVER");
        ok(p().delete(path), 200);
    }
}
