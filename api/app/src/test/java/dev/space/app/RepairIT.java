package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.StepRef;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.testkit.FakeBucket;
import dev.space.testkit.FakeNode;
import dev.space.testkit.Faults;
import dev.space.testkit.Held;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the reconciler finds and mends. */
class RepairIT extends SharedPlatform {

    /** The reconciler leaves sessions alone that changed just now. */
    private static void untouchedForLong(SessionId session) throws SQLException {
        execute(
                "UPDATE sessions SET updated_at = now() - interval '1 hour' WHERE id = '"
                        + session
                        + "'");
    }

    private static void terminate(SessionId session) {
        p().client.newUntypedWorkflowStub(session.value()).terminate("an operator did");
    }

    private static boolean hasWorkflow(SessionId session) {
        return p().client.newUntypedWorkflowStub(session.value()).describe().getStatus()
                == io.temporal.api.enums.v1.WorkflowExecutionStatus
                        .WORKFLOW_EXECUTION_STATUS_RUNNING;
    }

    @Test
    void aTerminatedWorkflowIsStartedAgainFromItsRow() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        ok(p().post(path + "/checkpoint", ""), 200);
        terminate(id(session));
        untouchedForLong(id(session));
        p().await("workflow again", () -> hasWorkflow(id(session)));
        assertThat(running(id(session))).isEqualTo(1);
        assertThat(ok(p().post(path + "/pause", ""), 200).get("state").asText())
                .isEqualTo("PAUSED");
        assertThat(ok(p().post(path + "/resume", ""), 200).get("epoch").asLong()).isEqualTo(2);
        ok(p().post(path + "/exec", "{\"command\":\"env\"}"), 200);
        ok(p().delete(path), 200);
        assertThat(running(id(session))).isZero();
    }

    @Test
    void aCommandOnATerminatedWorkflowNeedsNoReconciler() throws Exception {
        JsonNode session = create(DEFAULT);
        String path = path(session);
        terminate(id(session));
        ok(p().post(path + "/pause", ""), 200);
        terminate(id(session));
        ok(p().delete(path), 200);
        assertThat(p().node.node.snapshots(id(session))).isEmpty();
    }

    /** The pause had its effect on the node, and nobody was there to write it. */
    @Test
    void anOperationThatATerminationCutOffGoesOn() throws Exception {
        JsonNode session = create(DEFAULT);
        Held pause = p().node.node.hold("pause", Held.Point.AFTER_EFFECT);
        ok(p().post(path(session) + "/pause?wait=0", ""), 202);
        assertThat(pause.awaitArrival(Duration.ofSeconds(30))).isTrue();
        terminate(id(session));
        pause.release();
        untouchedForLong(id(session));
        awaitState(path(session), "PAUSED");
        assertThat(p().node.node.snapshots(id(session))).hasSize(1);
        assertThat(ok(p().post(path(session) + "/resume", ""), 200).get("epoch").asLong())
                .isEqualTo(2);
        ok(p().delete(path(session)), 200);
        assertThat(running(id(session))).isZero();
    }

    @Test
    void aTombstoneWithoutWorkflowIsDestroyed() throws Exception {
        JsonNode session = create(DEFAULT);
        String id = session.get("id").asText();
        String operation = "op_" + "d".repeat(26);
        terminate(id(session));
        execute(
                "INSERT INTO operations (id, session_id, kind, state, actor, number, accepted_at)"
                        + " SELECT '"
                        + operation
                        + "', id, 'DESTROY', 'ACCEPTED', 'key', last_number + 1, now() FROM"
                        + " sessions WHERE id = '"
                        + id
                        + "'");
        execute(
                "UPDATE sessions SET last_number = last_number + 1, tombstone_at = now(),"
                        + " fence_attempt = 0, tombstone_operation = '"
                        + operation
                        + "', operation_id = '"
                        + operation
                        + "', updated_at = now() - interval '1 hour' WHERE id = '"
                        + id
                        + "'");
        awaitState(path(session), "DESTROYED");
        assertThat(running(id(session))).isZero();
        assertThat(value("SELECT state FROM operations WHERE id = '" + operation + "'"))
                .isEqualTo("DONE");
    }

    /** As when the workflow service lost what it had not written: the row alone knows of it. */
    @Test
    void anOperationThatOnlyTheRowKnowsGoesOn() throws Exception {
        JsonNode session = create(DEFAULT);
        String id = session.get("id").asText();
        String operation = "op_" + "e".repeat(26);
        execute(
                "INSERT INTO operations (id, session_id, kind, state, actor, number, epoch,"
                        + " accepted_at, sent_at) SELECT '"
                        + operation
                        + "', id, 'PAUSE', 'ACCEPTED', 'key', last_number + 1, epoch, now() -"
                        + " interval '1 hour', now() - interval '1 hour' FROM sessions WHERE id = '"
                        + id
                        + "'");
        execute(
                "UPDATE sessions SET last_number = last_number + 1, fence_attempt = 0,"
                        + " operation_id = '"
                        + operation
                        + "' WHERE id = '"
                        + id
                        + "'");
        awaitState(path(session), "PAUSED");
        assertThat(value("SELECT state FROM operations WHERE id = '" + operation + "'"))
                .isEqualTo("DONE");
        assertThat(ok(p().post(path(session) + "/resume", ""), 200).get("epoch").asLong())
                .isEqualTo(2);
        ok(p().post(path(session) + "/exec", "{\"command\":\"env\"}"), 200);
        ok(p().delete(path(session)), 200);
        assertThat(running(id(session))).isZero();
    }

    @Test
    void anUnreachableNodePaysItsCleanUpWhenItIsBack() throws Exception {
        JsonNode session = create(DEFAULT);
        String owed = "SELECT count(*) FROM cleanup_owed WHERE session_id = '" + id(session) + "'";
        p().node.node.reachable(false);
        try {
            assertThat(ok(p().delete(path(session)), 200).get("state").asText())
                    .isEqualTo("DESTROYED");
            assertThat(value(owed)).isEqualTo("1");
            assertThat(running(id(session))).isEqualTo(1);
        } finally {
            p().node.node.reachable(true);
        }
        p().await("the clean-up is paid", () -> count(owed) == 0);
        assertThat(running(id(session))).isZero();
    }

    private static long count(String sql) throws IOException {
        try {
            return Long.parseLong(value(sql));
        } catch (SQLException failure) {
            throw new IOException(failure);
        }
    }

    @Test
    void onlyAVmOfALowerEpochIsEnded() throws Exception {
        JsonNode old = create(DEFAULT);
        ok(p().post(path(old) + "/pause", ""), 200);
        ok(p().post(path(old) + "/resume", ""), 200);
        JsonNode current = create(DEFAULT);
        FakeNode second = new FakeNode("fake-2", Faults.none(), new FakeBucket());
        second.startSandbox(planted(id(old), 'e', 1));
        second.startSandbox(planted(id(current), 'f', 1));
        try (FakeNodeServer server = new FakeNodeServer(second);
                NodeLink link = new NodeLink(p().ports, "fake-2", server.address(), 0)) {
            link.register();
            link.renewing(true);
            p().await("the old VM is ended", () -> second.vm(id(old)) == null);
            assertThat(Objects.requireNonNull(second.vm(id(current))).running()).isTrue();
        }
        assertThat(running(id(old))).isEqualTo(1);
        ok(p().post(path(old) + "/exec", "{\"command\":\"env\"}"), 200);
        ok(p().delete(path(old)), 200);
        ok(p().delete(path(current)), 200);
        execute("UPDATE nodes SET lease_until = now() - interval '2 hours' WHERE id = 'fake-2'");
    }

    private static StartSandbox planted(SessionId session, char operation, long epoch) {
        return new StartSandbox(
                new StepRef(
                        session,
                        new OperationId("op_" + String.valueOf(operation).repeat(26)),
                        new Fence(epoch, 1, 1)),
                NodeLink.DIGEST,
                Size.SMALL,
                null,
                null,
                "planted",
                10);
    }
}
