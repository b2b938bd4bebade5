package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Snapshots that nodes tell of, and those that users delete. */
class SnapshotRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final SnapshotRows snapshots = new SnapshotRows(DATABASE.db);

    private static SessionId session(String state, long epoch) throws SQLException {
        SessionId id = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        new RequestStore(DATABASE.db).create(DATABASE.session(id), create, "key", null);
        DATABASE.execute(
                "UPDATE sessions SET state = '%s', desired = '%s', node_id = 'node-a', epoch = %d"
                                .formatted(state, state, epoch)
                        + " WHERE id = '%s'".formatted(id.value()));
        return id;
    }

    private static CommitStore.Snapshot snapshot(SnapshotKind kind, long epoch, long stop) {
        return snapshot(kind, epoch, stop, "node-a");
    }

    private static CommitStore.Snapshot snapshot(
            SnapshotKind kind, long epoch, long stop, String node) {
        return new CommitStore.Snapshot(
                new SnapshotId(TestDatabase.text("snp")),
                kind,
                node,
                epoch,
                stop,
                10,
                Instant.EPOCH);
    }

    private static String newest(SessionId session) {
        return DATABASE.value("SELECT snapshot_id FROM sessions WHERE id = ?", session);
    }

    private static void refused(ErrorCode code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void aReportListsOnceAndTheNewestWithMemoryIsWhatARecoveryStartsFrom() throws SQLException {
        SessionId session = session("RUNNING", 2);
        CommitStore.Snapshot full = snapshot(SnapshotKind.FULL, 2, 4);
        CommitStore.Snapshot disk = snapshot(SnapshotKind.DISK, 2, 5);
        CommitStore.Snapshot late = snapshot(SnapshotKind.FULL, 2, 3);
        assertThat(snapshots.taken(session, full, true)).isTrue();
        assertThat(snapshots.taken(session, disk, false)).isTrue();
        assertThat(snapshots.taken(session, late, true)).isTrue();
        assertThat(snapshots.taken(session, full, true)).as("sent again").isTrue();
        assertThat(newest(session)).isEqualTo(full.id().value());
        assertThat(DATABASE.value("SELECT durability FROM sessions WHERE id = ?", session))
                .isEqualTo("LOCAL");
        assertThat(
                        DATABASE.value(
                                "SELECT reason || quiesced FROM snapshots WHERE id = ?", disk.id()))
                .isEqualTo("ROLLINGfalse");
        assertThat(snapshots.on(session, "node-a", Duration.ZERO)).hasSize(3);
    }

    @Test
    void anotherNodesOrALaterEpochsOrAGoneSessionsAreNotListed() throws SQLException {
        SessionId session = session("RUNNING", 2);
        DATABASE.node("node-b");
        assertThat(snapshots.taken(session, snapshot(SnapshotKind.FULL, 1, 1, "node-b"), true))
                .isFalse();
        assertThat(snapshots.taken(session, snapshot(SnapshotKind.FULL, 3, 1), true)).isFalse();
        DATABASE.execute(
                "UPDATE sessions SET tombstone_at = now(), tombstone_operation = '%s'"
                                .formatted(TestDatabase.text("op"))
                        + " WHERE id = '%s'".formatted(session.value()));
        assertThat(snapshots.taken(session, snapshot(SnapshotKind.FULL, 2, 1), true)).isFalse();
        assertThat(
                        snapshots.taken(
                                TestDatabase.newSession(), snapshot(SnapshotKind.FULL, 1, 1), true))
                .isFalse();
    }

    @Test
    void aPastThatWasLeftIsNotTheNewest() throws SQLException {
        SessionId session = session("RUNNING", 3);
        DATABASE.execute(
                "UPDATE sessions SET base_epoch = 3 WHERE id = '%s'".formatted(session.value()));
        snapshots.taken(session, snapshot(SnapshotKind.FULL, 2, 9), true);
        assertThat(newest(session)).isEqualTo("null");
        CommitStore.Snapshot present = snapshot(SnapshotKind.FULL, 3, 1);
        snapshots.taken(session, present, true);
        assertThat(newest(session)).isEqualTo(present.id().value());
    }

    @Test
    void whatTheNodeRemovedIsListedNoMore() throws SQLException {
        SessionId session = session("RUNNING", 1);
        CommitStore.Snapshot older = snapshot(SnapshotKind.FULL, 1, 1);
        CommitStore.Snapshot newer = snapshot(SnapshotKind.FULL, 1, 2);
        snapshots.taken(session, older, true);
        snapshots.taken(session, newer, true);
        snapshots.gone(session, "node-b", List.of(newer.id()));
        assertThat(newest(session))
                .as("only its own node may say so")
                .isEqualTo(newer.id().value());
        snapshots.gone(session, "node-a", List.of(newer.id()));
        assertThat(newest(session)).isEqualTo(older.id().value());
        assertThat(snapshots.on(session, "node-a", Duration.ZERO)).hasSize(1);
    }

    @Test
    void aUserDeletesWhatNothingStandsOn() throws SQLException {
        SessionId session = session("RUNNING", 1);
        CommitStore.Snapshot older = snapshot(SnapshotKind.FULL, 1, 1);
        CommitStore.Snapshot disk = snapshot(SnapshotKind.DISK, 1, 2);
        CommitStore.Snapshot newer = snapshot(SnapshotKind.FULL, 1, 3);
        for (CommitStore.Snapshot snapshot : List.of(older, disk, newer)) {
            snapshots.taken(session, snapshot, true);
        }
        refused(ErrorCode.SNAPSHOT_IN_USE, () -> snapshots.delete(session, newer.id(), "key"));
        refused(
                ErrorCode.SNAPSHOT_NOT_FOUND,
                () -> snapshots.delete(session, new SnapshotId(TestDatabase.text("snp")), "key"));
        assertThat(snapshots.delete(session, older.id(), "key").node()).isEqualTo("node-a");
        refused(ErrorCode.SNAPSHOT_NOT_FOUND, () -> snapshots.delete(session, older.id(), "key"));
        assertThat(snapshots.on(session, "node-a", Duration.ZERO))
                .as("the node is still to be told")
                .anyMatch(row -> row.id().equals(older.id()) && !row.listed());
        DATABASE.execute(
                "UPDATE operations SET snapshot_id = '%s' WHERE session_id = '%s'"
                        .formatted(disk.id().value(), session.value()));
        refused(ErrorCode.SNAPSHOT_IN_USE, () -> snapshots.delete(session, disk.id(), "key"));
        assertThat(
                        DATABASE.value(
                                "SELECT count(*) FROM events WHERE session_id = ? AND action ="
                                        + " 'delete_snapshot'",
                                session))
                .isEqualTo("1");
    }
}
