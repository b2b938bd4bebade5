package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Durability;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.store.AcceptStore.Answer;
import dev.space.store.LineageRows.Kept;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the rows say of the object store, and who may restore or forget it. */
class DurableRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final RequestStore requests = new RequestStore(DATABASE.db);
    private final AcceptStore accepts = new AcceptStore(DATABASE.db);
    private final CommitStore commits = new CommitStore(DATABASE.db);
    private final RepairStore repairs = new RepairStore(DATABASE.db);
    private final DurableRows durables = new DurableRows(DATABASE.db);
    private final LineageRows lineages = new LineageRows(DATABASE.db);
    private SessionId session;
    private String node;

    @BeforeEach
    void running() {
        session = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        requests.create(DATABASE.session(session), create, "key", null);
        Answer accepted = accept(create, OperationKind.CREATE);
        node = Objects.requireNonNull(accepted.node());
        assertThat(commit(create, accepted, 1, SessionState.RUNNING, null)).isTrue();
    }

    /** A SUSPEND in flight. */
    private record Suspend(OperationId operation, Answer accepted) {
        Fence fence(long attempt) {
            return new Fence(accepted.epoch(), accepted.number(), attempt);
        }
    }

    private Suspend suspend() {
        OperationId operation = command(OperationKind.SUSPEND);
        return new Suspend(operation, accept(operation, OperationKind.SUSPEND));
    }

    private CommitStore.Snapshot snapshot(long epoch, long stop) {
        return new CommitStore.Snapshot(
                new SnapshotId(TestDatabase.text("snp")),
                SnapshotKind.FULL,
                node,
                epoch,
                stop,
                10,
                Instant.EPOCH);
    }

    private DurableRows.Begun begin(Suspend suspend, long attempt, CommitStore.Snapshot of) {
        return durables.begin(session, suspend.operation(), suspend.fence(attempt), of);
    }

    private static DurableRows.Stored stored(DurableRows.Begun begun, CommitStore.Snapshot of) {
        return new DurableRows.Stored(
                of, begun.lineage(), "m/" + begun.number(), "digest", 100, 50, 1000);
    }

    /** From RUNNING to SUSPENDED on this snapshot. */
    private DurableRows.Stored suspended(CommitStore.Snapshot of) {
        Suspend suspend = suspend();
        DurableRows.Stored stored = stored(begin(suspend, 2, of), of);
        assertThat(
                        commit(
                                suspend.operation(),
                                suspend.accepted(),
                                3,
                                SessionState.SUSPENDED,
                                stored))
                .isTrue();
        return stored;
    }

    private String state(DurableRows.Begun begun) {
        return DATABASE.value("SELECT state FROM durable_snapshots WHERE id = ?", begun.number());
    }

    private SessionRow row() {
        return repairs.session(session).orElseThrow();
    }

    private boolean isReferenced(DurableRows.Begun begun) {
        return durables.references(begun.number() - 1, 1).stream()
                .anyMatch(r -> r.number() == begun.number());
    }

    @Test
    void anUploadIsKnownBeforeItsFirstByteAndHasOneNumber() {
        Suspend suspend = suspend();
        CommitStore.Snapshot taken = snapshot(1, 1);
        DurableRows.Begun begun = begin(suspend, 2, taken);
        assertThat(begun.written()).isTrue();
        assertThat(begun.lineage()).isEqualTo(session.value());
        assertThat(begun.previous()).isNull();
        assertThat(begun.complete()).isNull();
        assertThat(begin(suspend, 3, taken).number()).isEqualTo(begun.number());
        assertThat(begin(suspend, 2, taken).written()).as("a late attempt").isFalse();
        assertThat(state(begun)).isEqualTo("PENDING");
        assertThat(isReferenced(begun)).isTrue();
        assertThat(durables.find(taken.id())).as("not to be restored").isEmpty();
        assertThat(row().snapshot()).as("it is listed").isEqualTo(taken.id().value());
        assertThat(row().durability()).isEqualTo(Durability.LOCAL);
        assertThat(DATABASE.value("SELECT reason FROM snapshots WHERE id = ?", taken.id()))
                .isEqualTo("PAUSE");
    }

    @Test
    void theCommitMakesItDurableAndTakesTheSessionOffItsNode() {
        CommitStore.Snapshot taken = snapshot(1, 1);
        DurableRows.Stored stored = suspended(taken);
        assertThat(row().state()).isEqualTo(SessionState.SUSPENDED);
        assertThat(row().node()).isNull();
        assertThat(row().durability()).isEqualTo(Durability.DURABLE);
        assertThat(row().durable()).isEqualTo(taken.id().value());
        assertThat(durables.find(taken.id())).contains(stored);
    }

    @Test
    void withAnyOtherEndItIsGarbageAndNothingRefersToIt() {
        Suspend suspend = suspend();
        CommitStore.Snapshot taken = snapshot(1, 1);
        DurableRows.Begun begun = begin(suspend, 2, taken);
        assertThat(
                        commits.commit(
                                        write(
                                                suspend.operation(),
                                                suspend.fence(3),
                                                SessionState.PAUSED,
                                                OperationState.CANCELLED,
                                                null,
                                                List.of()))
                                .written())
                .isTrue();
        assertThat(state(begun)).isEqualTo("GARBAGE");
        assertThat(isReferenced(begun)).isFalse();
        assertThat(row().durability()).isEqualTo(Durability.LOCAL);
        assertThat(commit(suspend.operation(), suspend.accepted(), 9, SessionState.SUSPENDED, null))
                .as("a late commit")
                .isFalse();
    }

    @Test
    void aDestroyThatSupersedesItMakesGarbageTooAndLateAttemptsNothing() {
        Suspend suspend = suspend();
        CommitStore.Snapshot taken = snapshot(1, 1);
        DurableRows.Begun begun = begin(suspend, 2, taken);
        OperationId destroy = TestDatabase.newOperation();
        requests.destroy(DATABASE.project, session, destroy, "key", null);
        accept(destroy, OperationKind.DESTROY);
        assertThat(state(begun)).isEqualTo("GARBAGE");
        assertThat(begin(suspend, 5, taken).written()).isFalse();
        assertThat(
                        commit(
                                suspend.operation(),
                                suspend.accepted(),
                                6,
                                SessionState.SUSPENDED,
                                stored(begun, taken)))
                .isFalse();
        assertThat(durables.find(taken.id())).isEmpty();
    }

    @Test
    void whatIsDestroyedOrDeletedMayBeForgotten() throws SQLException {
        CommitStore.Snapshot taken = snapshot(1, 1);
        suspended(taken);
        OperationId destroy = TestDatabase.newOperation();
        requests.destroy(DATABASE.project, session, destroy, "key", null);
        Answer accepted = accept(destroy, OperationKind.DESTROY);
        assertThat(durables.find(taken.id())).as("until it is destroyed").isPresent();
        assertThat(commit(destroy, accepted, 1, SessionState.DESTROYED, null)).isTrue();
        assertThat(durables.find(taken.id())).isEmpty();
        assertThat(
                        DATABASE.value(
                                "SELECT state FROM durable_snapshots WHERE snapshot_id = ?",
                                taken.id()))
                .isEqualTo("GARBAGE");
    }

    @Test
    void aKeyThatIsExportedIsAnEvent() {
        CommitStore.Snapshot taken = snapshot(1, 1);
        assertThat(lineages.export(taken.id(), "operator")).as("not stored").isEmpty();
        DurableRows.Stored stored = suspended(taken);
        assertThat(lineages.export(taken.id(), "operator"))
                .contains(
                        new LineageRows.Stored(
                                session.value(), stored.manifestKey(), stored.manifestDigest()));
        assertThat(
                        DATABASE.value(
                                "SELECT session_id || ' ' || actor || ' ' || count(*) FROM events"
                                        + " WHERE action = 'export_key' AND object = ?"
                                        + " GROUP BY session_id, actor",
                                taken.id()))
                .isEqualTo(session + " operator 1");
    }

    @Test
    void aRestoreIsPlacedWhereACopyIsAndItsCommitSaysWhereItIsNow() {
        DATABASE.node("node-b");
        CommitStore.Snapshot taken = snapshot(1, 1);
        suspended(taken);
        OperationId restore = command(OperationKind.RESTORE);
        Answer accepted = accept(restore, OperationKind.RESTORE);
        assertThat(accepted.node()).as("its copy is there").isEqualTo(node);
        assertThat(accepted.epoch()).isEqualTo(2);
        assertThat(lineages.lineage(session, node)).contains(session.value());
        String other = node.equals("node-a") ? "node-b" : "node-a";
        assertThat(lineages.lineage(session, other)).as("not its node").isEmpty();

        var moved =
                accepts.move(
                        new AcceptStore.Move(
                                session, restore, new Fence(2, accepted.number(), 1), node, true));
        assertThat(moved.moved()).isTrue();
        String next = Objects.requireNonNull(moved.node());
        CommitStore.Snapshot copy =
                new CommitStore.Snapshot(taken.id(), taken.kind(), next, 1, 1, 10, Instant.EPOCH);
        Fence fence = new Fence(3, accepted.number(), 2);
        assertThat(
                        commits.commit(
                                        new CommitStore.Commit(
                                                session,
                                                restore,
                                                fence,
                                                OperationState.DONE,
                                                null,
                                                "",
                                                SessionState.RUNNING,
                                                next,
                                                fence,
                                                List.of(copy),
                                                null,
                                                null,
                                                List.of(),
                                                List.of(node),
                                                ReasonCode.USER,
                                                ""))
                                .written())
                .isTrue();
        assertThat(durables.find(taken.id()).orElseThrow().snapshot().node()).isEqualTo(next);
        assertThat(row().snapshot()).isEqualTo(taken.id().value());
        assertThat(owesSnapshots(node)).as("the node that was left keeps its snapshots").isTrue();
    }

    private boolean owesSnapshots(String of) {
        return "t"
                .equals(
                        DATABASE.value(
                                "SELECT keeps_snapshots FROM cleanup_owed WHERE session_id = ? AND"
                                        + " node_id = ?",
                                session,
                                of));
    }

    @Test
    void aFailedRestoreIsOnNoNode() {
        suspended(snapshot(1, 1));
        OperationId restore = command(OperationKind.RESTORE);
        Answer accepted = accept(restore, OperationKind.RESTORE);
        assertThat(row().node()).as("while it is on its way").isNotNull();
        CommitStore.Commit failed =
                write(
                        restore,
                        new Fence(accepted.epoch(), accepted.number(), 1),
                        SessionState.SUSPENDED,
                        OperationState.FAILED,
                        ErrorCode.NO_CAPACITY,
                        List.of(node));
        assertThat(commits.commit(failed).written()).isTrue();
        assertThat(row().node()).isNull();
        assertThat(row().nodesTouched()).containsExactly(node);
        assertThat(owesSnapshots(node)).isTrue();
    }

    @Test
    void theNextUploadOfTheLineageBuildsOnTheLastOneAndForksInheritIt() throws SQLException {
        CommitStore.Snapshot first = snapshot(1, 1);
        DurableRows.Stored stored = suspended(first);
        DATABASE.execute(
                "UPDATE sessions SET state = 'RUNNING', node_id = '%s' WHERE id = '%s'"
                        .formatted(node, session.value()));
        DurableRows.Begun again = begin(suspend(), 2, snapshot(1, 2));
        assertThat(again.previous()).isEqualTo(stored);
        assertThat(again.complete()).isNull();
        assertThat(durables.references(again.number() - 1, 1).getFirst().previousKey())
                .as("what it is built on stays with it")
                .isEqualTo(stored.manifestKey());
        assertThat(begin(suspendAgain(), 2, first).complete()).isEqualTo(stored);
        assertThat(lineages.lineage(session, node)).contains(session.value());
    }

    private Suspend suspendAgain() throws SQLException {
        DATABASE.execute(
                "UPDATE operations SET state = 'FAILED', ended_at = now() WHERE session_id = '%s'"
                                .formatted(session.value())
                        + " AND ended_at IS NULL");
        DATABASE.execute(
                "UPDATE sessions SET operation_id = NULL WHERE id = '%s'"
                        .formatted(session.value()));
        return suspend();
    }

    @Test
    void aRecoveryFromWhatIsStoredLeavesThePastOfTheLostNode() {
        CommitStore.Snapshot first = snapshot(1, 1);
        DurableRows.Stored stored = suspended(first);
        OperationId restore = command(OperationKind.RESTORE);
        Answer back = accept(restore, OperationKind.RESTORE);
        assertThat(commit(restore, back, 1, SessionState.RUNNING, null)).isTrue();
        OperationId checkpoint = command(OperationKind.CHECKPOINT);
        Answer taken = accept(checkpoint, OperationKind.CHECKPOINT);
        commits.recordSnapshots(
                session,
                checkpoint,
                new Fence(taken.epoch(), taken.number(), 1),
                List.of(snapshot(2, 1)),
                0);
        assertThat(commit(checkpoint, taken, 2, SessionState.RUNNING, null)).isTrue();
        assertThat(row().snapshot()).isNotEqualTo(first.id().value());

        OperationId recover = command(OperationKind.RECOVER);
        Answer again = accept(recover, OperationKind.RECOVER);
        assertThat(commit(recover, again, 1, SessionState.RUNNING, stored)).isTrue();
        assertThat(row().snapshot()).isEqualTo(first.id().value());
        assertThat(row().durable()).isEqualTo(first.id().value());
    }

    @Test
    void aNodeThatLostItsCopyCostsNothing() {
        CommitStore.Snapshot taken = snapshot(1, 1);
        suspended(taken);
        new SnapshotRows(DATABASE.db).gone(session, node, List.of(taken.id()));
        assertThat(durables.find(taken.id()).orElseThrow().snapshot().node()).isEmpty();
        assertThat(row().snapshot()).isEqualTo(taken.id().value());
        assertThat(row().durability()).isEqualTo(Durability.DURABLE);
    }

    @Test
    void onlyCopiesOfWhatIsStoredAndOnNoNodeMayGo() {
        CommitStore.Snapshot local = snapshot(1, 1);
        CommitStore.Snapshot taken = snapshot(1, 2);
        OperationId checkpoint = command(OperationKind.CHECKPOINT);
        Answer accepted = accept(checkpoint, OperationKind.CHECKPOINT);
        Fence fence = new Fence(accepted.epoch(), accepted.number(), 1);
        commits.recordSnapshots(session, checkpoint, fence, List.of(local), 0);
        assertThat(commit(checkpoint, accepted, 2, SessionState.RUNNING, null)).isTrue();
        suspended(taken);
        DurableRows.Copy copy = new DurableRows.Copy(session, taken.id());
        assertThat(durables.copiesOn(node, 1_000))
                .contains(copy)
                .doesNotContain(new DurableRows.Copy(session, local.id()));
        OperationId restore = command(OperationKind.RESTORE);
        accept(restore, OperationKind.RESTORE);
        assertThat(durables.copiesOn(node, 1_000)).as("it is about to start").doesNotContain(copy);
    }

    @Test
    void aLineageHasOneKey() {
        Kept mine = new Kept(Blob.of("mine".getBytes(StandardCharsets.US_ASCII)), null);
        Kept other = new Kept(Blob.of("other".getBytes(StandardCharsets.US_ASCII)), null);
        assertThat(lineages.key(session.value())).isEmpty();
        assertThat(lineages.keep(session.value(), mine)).isEqualTo(mine);
        assertThat(lineages.keep(session.value(), other)).isEqualTo(mine);
        assertThat(lineages.key(session.value())).contains(mine);
    }

    @Test
    void whatATriggerMissedIsGivenUp() throws SQLException {
        Suspend suspend = suspend();
        DurableRows.Begun begun = begin(suspend, 2, snapshot(1, 1));
        durables.giveUpDead();
        assertThat(state(begun)).as("its operation goes on").isEqualTo("PENDING");
        DATABASE.execute("ALTER TABLE operations DISABLE TRIGGER upload_ended");
        suspendAgain();
        DATABASE.execute("ALTER TABLE operations ENABLE TRIGGER upload_ended");
        assertThat(state(begun)).isEqualTo("PENDING");
        durables.giveUpDead();
        assertThat(state(begun)).isEqualTo("GARBAGE");
    }

    // ------------------------------------------------------------ the rows around it

    private OperationId command(OperationKind kind) {
        OperationId operation = TestDatabase.newOperation();
        requests.command(
                DATABASE.project, session, operation, kind, "key", CommandArguments.NONE, null);
        return operation;
    }

    private Answer accept(OperationId operation, OperationKind kind) {
        boolean place = kind == OperationKind.CREATE || kind == OperationKind.RESTORE;
        return accepts.accept(
                new AcceptStore.Request(
                        session,
                        operation,
                        kind,
                        false,
                        false,
                        null,
                        place,
                        ReasonCode.USER,
                        "",
                        Instant.now()));
    }

    private boolean commit(
            OperationId operation,
            Answer accepted,
            long attempt,
            SessionState state,
            DurableRows.@Nullable Stored stored) {
        Fence fence = new Fence(accepted.epoch(), accepted.number(), attempt);
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
                                state == SessionState.RUNNING ? fence : null,
                                List.of(),
                                stored,
                                null,
                                List.of(),
                                List.of(),
                                ReasonCode.USER,
                                ""))
                .written();
    }

    private CommitStore.Commit write(
            OperationId operation,
            Fence fence,
            SessionState state,
            OperationState outcome,
            @Nullable ErrorCode error,
            List<String> owed) {
        return new CommitStore.Commit(
                session,
                operation,
                fence,
                outcome,
                error,
                "",
                state,
                node,
                null,
                List.of(),
                null,
                null,
                List.of(),
                owed,
                ReasonCode.USER,
                "");
    }
}
