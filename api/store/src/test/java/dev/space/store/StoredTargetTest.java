package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.Instead;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.store.AcceptStore.Answer;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Where an operation that starts from a stored snapshot is placed, and which running session is to
 * be stored next.
 */
class StoredTargetTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final RequestStore requests = new RequestStore(DATABASE.db);
    private final AcceptStore accepts = new AcceptStore(DATABASE.db);
    private final CommitStore commits = new CommitStore(DATABASE.db);
    private final RepairStore repairs = new RepairStore(DATABASE.db);
    private final DurableRows durables = new DurableRows(DATABASE.db);
    private final PolicyRows policies = new PolicyRows(DATABASE.db);
    private SessionId session;
    private String node;

    @BeforeEach
    void running() {
        session = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        requests.create(DATABASE.session(session), create, "key", null);
        Answer accepted = accept(create, OperationKind.CREATE);
        node = Objects.requireNonNull(accepted.node());
        assertThat(commit(create, accepted, SessionState.RUNNING, List.of(), null)).isTrue();
    }

    private static CommitStore.Snapshot snapshot(String node, long stop) {
        return new CommitStore.Snapshot(
                new SnapshotId(TestDatabase.text("snp")),
                SnapshotKind.FULL,
                node,
                1,
                stop,
                10,
                Instant.EPOCH);
    }

    /** A checkpoint that is on a node, and in the object store where asked. */
    private CommitStore.Snapshot checkpoint(long stop, boolean durable) {
        OperationId operation = TestDatabase.newOperation();
        requests.command(
                DATABASE.project,
                session,
                operation,
                OperationKind.CHECKPOINT,
                "key",
                new CommandArguments(null, null, false, durable),
                null);
        Answer accepted = accept(operation, OperationKind.CHECKPOINT);
        assertThat(accepted.durable()).isEqualTo(durable);
        CommitStore.Snapshot taken = snapshot(node, stop);
        DurableRows.Stored stored = null;
        if (durable) {
            Fence fence = new Fence(accepted.epoch(), accepted.number(), 1);
            DurableRows.Begun begun = durables.begin(session, operation, fence, taken);
            assertThat(begun.written()).isTrue();
            stored =
                    new DurableRows.Stored(
                            taken, begun.lineage(), "m/" + begun.number(), "digest", 1, 1, 1);
        }
        List<CommitStore.Snapshot> made = List.of(taken);
        assertThat(commit(operation, accepted, SessionState.RUNNING, made, stored)).isTrue();
        return taken;
    }

    private void suspended(CommitStore.Snapshot on) throws SQLException {
        DATABASE.execute(
                "UPDATE sessions SET state = 'SUSPENDED', desired = 'SUSPENDED', node_id = NULL,"
                        + " vm_number = 0, vm_epoch = 0, vm_attempt = 0, snapshot_id = '"
                        + on.id()
                        + "' WHERE id = '"
                        + session
                        + "'");
    }

    private static void isOn(CommitStore.Snapshot snapshot, @Nullable String node)
            throws SQLException {
        String value = node == null ? "NULL" : "'" + node + "'";
        DATABASE.execute(
                "UPDATE snapshots SET node_id = " + value + " WHERE id = '" + snapshot.id() + "'");
    }

    private Answer rollback(CommitStore.Snapshot target) {
        OperationId operation = TestDatabase.newOperation();
        requests.command(
                DATABASE.project,
                session,
                operation,
                OperationKind.ROLLBACK,
                "key",
                new CommandArguments(null, target.id(), false, false),
                null);
        return accept(operation, OperationKind.ROLLBACK);
    }

    @Test
    void aDurableCheckpointMakesARunningSessionDurable() {
        CommitStore.Snapshot taken = checkpoint(1, true);
        SessionRow row = repairs.session(session).orElseThrow();
        assertThat(row.state()).isEqualTo(SessionState.RUNNING);
        assertThat(row.node()).isEqualTo(node);
        assertThat(row.durable()).isEqualTo(taken.id().value());
        assertThat(durables.find(taken.id())).isPresent();
    }

    @Test
    void aSuspendedSessionGoesBackWhereACopyIsElseAnywhere() throws SQLException {
        CommitStore.Snapshot first = checkpoint(1, true);
        suspended(checkpoint(2, true));
        isOn(first, "node-away");
        Answer answer = rollback(first);
        assertThat(answer.accepted()).isTrue();
        assertThat(answer.node())
                .as("that node is not alive")
                .isNotNull()
                .isNotEqualTo("node-away");
        assertThat(Objects.requireNonNull(answer.stored()).snapshot().id()).isEqualTo(first.id());
        assertThat(answer.epoch()).isEqualTo(2);
    }

    @Test
    void whereTheStoreIsDamagedTheNewestOtherStoredOneIsOffered() {
        CommitStore.Snapshot first = checkpoint(1, true);
        CommitStore.Snapshot second = checkpoint(2, true);
        checkpoint(3, false);
        CommitStore.Snapshot newest = checkpoint(4, true);
        assertThat(refusedAs("pack x is missing")).endsWith("; " + Instead.stored(second.id()));
        assertThat(refusedAs("damaged: " + second.id()))
                .as("that is the damaged one")
                .endsWith(Instead.stored(first.id()));
        String good = "device is gone; " + Instead.checked(newest.id());
        assertThat(refusedAs(good)).as("the node has found one").isEqualTo(good);
    }

    /** The detail of an operation that fails because of a damaged snapshot. */
    private String refusedAs(String detail) {
        OperationId operation = TestDatabase.newOperation();
        requests.command(
                DATABASE.project,
                session,
                operation,
                OperationKind.CHECKPOINT,
                "key",
                CommandArguments.NONE,
                null);
        Answer accepted = accept(operation, OperationKind.CHECKPOINT);
        Fence fence = new Fence(accepted.epoch(), accepted.number(), 2);
        CommitStore.Commit commit =
                new CommitStore.Commit(
                        session,
                        operation,
                        fence,
                        OperationState.FAILED,
                        ErrorCode.SNAPSHOT_CORRUPT,
                        detail,
                        SessionState.RUNNING,
                        accepted.node(),
                        fence,
                        List.of(),
                        null,
                        null,
                        List.of(),
                        List.of(),
                        ReasonCode.USER,
                        "");
        assertThat(commits.commit(commit).written()).isTrue();
        return DATABASE.value("SELECT error_detail FROM operations WHERE id = ?", operation);
    }

    @Test
    void whatIsOnOneNodeOnlyIsGoneBackToThereOrNotAtAll() throws SQLException {
        CommitStore.Snapshot local = checkpoint(1, false);
        suspended(checkpoint(2, true));
        isOn(local, "node-away");
        Answer answer = rollback(local);
        assertThat(answer.accepted()).isTrue();
        assertThat(answer.node()).isNull();
        assertThat(answer.error()).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(answer.stored()).isNull();
    }

    @Test
    void aRunningSessionGoesBackToWhatItsNodeOrTheObjectStoreHas() throws SQLException {
        CommitStore.Snapshot stored = checkpoint(1, true);
        CommitStore.Snapshot local = checkpoint(2, false);
        isOn(stored, null);
        isOn(local, "node-away");
        assertThat(rollback(local).error()).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
        Answer answer = rollback(stored);
        assertThat(answer.accepted()).isTrue();
        assertThat(answer.node()).as("its own node").isEqualTo(node);
        assertThat(answer.stored()).isNotNull();
    }

    @Test
    void aCopyMayGoOnlyWhileNothingCouldStartFromIt() throws SQLException {
        CommitStore.Snapshot stored = checkpoint(1, true);
        SnapshotRows rows = new SnapshotRows(DATABASE.db);
        assertThat(rows.evict(session, node, stored.id())).as("it is on it").isFalse();
        suspended(stored);
        assertThat(rows.evict(session, node, stored.id())).isTrue();
        rows.notEvicted(stored.id(), node);
        rollback(stored); // the copy is read, then this is accepted
        assertThat(rows.evict(session, node, stored.id())).isFalse();
    }

    @Test
    void whereASandboxRunsIsWhatItsNodeSaysLast() {
        RepairStore.SeenVm vm = new RepairStore.SeenVm(session, 7);
        repairs.seen("node-x", List.of(vm));
        assertThat(seen()).isEqualTo("node-x/7");
        repairs.seen("node-y", List.of(new RepairStore.SeenVm(session, 8)));
        repairs.seen("node-x", List.of());
        assertThat(seen()).as("it moved before the first was asked again").isEqualTo("node-y/8");
        repairs.seen("node-y", List.of());
        assertThat(seen()).isEqualTo("-/-");
    }

    private String seen() {
        return DATABASE.value(
                "SELECT coalesce(seen_node, '-') || '/' || coalesce(seen_epoch::text, '-')"
                        + " FROM sessions WHERE id = ?",
                session);
    }

    private void policy(long everySeconds) throws SQLException {
        DATABASE.execute(
                "UPDATE sessions SET durable_every_seconds = "
                        + everySeconds
                        + ", created_at = now() - interval '1 hour' WHERE id = '"
                        + session
                        + "'");
    }

    @Test
    void aPolicyAsksForACheckpointWhenItIsDueAndOnce() throws SQLException {
        assertThat(policies.toStore(1000)).doesNotContain(session);
        policy(7200);
        assertThat(policies.toStore(1000)).as("not due").doesNotContain(session);
        policy(60);
        assertThat(policies.toStore(1000)).contains(session);
        OperationRow row = policies.store(session, TestDatabase.newOperation()).orElseThrow();
        assertThat(row.kind()).isEqualTo(OperationKind.CHECKPOINT);
        assertThat(row.durable()).isTrue();
        assertThat(policies.toStore(1000)).as("it is asked for").doesNotContain(session);
        assertThat(policies.store(session, TestDatabase.newOperation())).isEmpty();
    }

    @Test
    void whatDidNothingSinceIsNotStoredAgain() throws SQLException {
        CommitStore.Snapshot taken = checkpoint(1, true);
        policy(60);
        DATABASE.execute("UPDATE operations SET requested_at = now() - interval '1 hour'");
        active(taken, "- interval '1 second'");
        assertThat(policies.toStore(1000)).doesNotContain(session);
        active(taken, "+ interval '1 second'");
        assertThat(policies.toStore(1000)).contains(session);
    }

    private void active(CommitStore.Snapshot since, String plus) throws SQLException {
        DATABASE.execute(
                "UPDATE sessions SET last_active_at = (SELECT taken_at FROM snapshots WHERE id = '"
                        + since.id()
                        + "') "
                        + plus
                        + " WHERE id = '"
                        + session
                        + "'");
    }

    @Test
    void idlenessCountsFromTheLastActivityOrChange() throws SQLException {
        String idle =
                "UPDATE sessions SET idle_seconds = 60, idle_action = 'PAUSE', updated_at = now()"
                        + " - interval '1 hour', last_active_at = now() - interval '%s'"
                        + " WHERE id = '"
                        + session
                        + "'";
        DATABASE.execute(idle.formatted("10 seconds"));
        assertThat(isIdle()).isFalse();
        DATABASE.execute(idle.formatted("10 minutes"));
        assertThat(isIdle()).isTrue();
        DATABASE.execute("UPDATE sessions SET state = 'PAUSED' WHERE id = '" + session + "'");
        assertThat(isIdle()).as("its policy goes no further").isFalse();
    }

    /** Nodes, and guests, whose clocks are wrong by a year either way. */
    @Test
    void aWrongClockMakesNothingIdleAndKeepsNothingBusy() throws SQLException {
        NodeStore nodes = new NodeStore(DATABASE.db);
        DATABASE.execute(
                "UPDATE sessions SET idle_seconds = 60, idle_action = 'PAUSE', last_active_at ="
                        + " NULL, updated_at = now() - interval '1 hour' WHERE id = '"
                        + session
                        + "'");
        long epoch =
                Long.parseLong(DATABASE.value("SELECT epoch FROM sessions WHERE id = ?", session));
        nodes.activity(session.value(), epoch, Duration.ofDays(3650_000));
        assertThat(isIdle()).isTrue();
        nodes.activity(session.value(), epoch, Duration.ofDays(-365));
        assertThat(isIdle()).as("now, at the latest").isFalse();
        DATABASE.execute(
                "UPDATE sessions SET last_active_at = last_active_at - interval '2 minutes' WHERE"
                        + " id = '"
                        + session
                        + "'");
        assertThat(isIdle()).isTrue();
    }

    @Test
    void aSnapshotOfTheFutureDoesNotEndAPolicy() throws SQLException {
        checkpoint(1, true);
        policy(60);
        DATABASE.execute("UPDATE operations SET requested_at = now() - interval '1 hour'");
        DATABASE.execute(
                "UPDATE sessions SET durable_taken_at = now() + interval '1 year' WHERE id = '"
                        + session
                        + "'");
        assertThat(policies.toStore(1000)).as("stored just now").doesNotContain(session);
        DATABASE.execute(
                "UPDATE durable_snapshots SET completed_at = now() - interval '2 minutes'");
        assertThat(policies.toStore(1000)).contains(session);
    }

    private boolean isIdle() {
        return policies.idle(Duration.ZERO, 1000).stream()
                .anyMatch(idle -> idle.session().equals(session));
    }

    @Test
    void aNodeThatIsDrainedGetsNothingNew() {
        DATABASE.node("node-b");
        NodeStore nodes = new NodeStore(DATABASE.db);
        assertThat(nodes.cordon("node-a", true)).isTrue();
        try {
            SessionId other = TestDatabase.newSession();
            OperationId create = TestDatabase.newOperation();
            requests.create(DATABASE.session(other), create, "key", null);
            session = other;
            assertThat(accept(create, OperationKind.CREATE).node())
                    .isNotNull()
                    .isNotEqualTo("node-a");
        } finally {
            assertThat(nodes.cordon("node-a", false)).isTrue();
            assertThat(nodes.off("node-b")).isTrue();
        }
        assertThat(repairs.nodesAlive()).contains("node-a").doesNotContain("node-b");
        assertThat(nodes.off("node-unknown")).isFalse();
    }

    private Answer accept(OperationId operation, OperationKind kind) {
        boolean nowhere = repairs.session(session).orElseThrow().node() == null;
        return accepts.accept(
                new AcceptStore.Request(
                        session,
                        operation,
                        kind,
                        false,
                        false,
                        null,
                        nowhere,
                        ReasonCode.USER,
                        "",
                        Instant.now()));
    }

    private boolean commit(
            OperationId operation,
            Answer accepted,
            SessionState state,
            List<CommitStore.Snapshot> made,
            DurableRows.@Nullable Stored stored) {
        Fence fence = new Fence(accepted.epoch(), accepted.number(), 2);
        return commits.commit(
                        new CommitStore.Commit(
                                session,
                                operation,
                                fence,
                                OperationState.DONE,
                                null,
                                "",
                                state,
                                accepted.node(),
                                fence,
                                made,
                                stored,
                                null,
                                List.of(),
                                List.of(),
                                ReasonCode.USER,
                                ""))
                .written();
    }
}
