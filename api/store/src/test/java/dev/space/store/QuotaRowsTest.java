package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.QuotaRows.Excess;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What goes when there is too much of it, and what never does. */
class QuotaRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private static final int ALL = 1000;
    private final QuotaRows quotas = new QuotaRows(DATABASE.db);
    private final RequestStore requests = new RequestStore(DATABASE.db);

    private SessionId session() throws SQLException {
        SessionId id = TestDatabase.newSession();
        requests.create(DATABASE.session(id), TestDatabase.newOperation(), "key", null);
        DATABASE.execute(
                "UPDATE sessions SET state = 'RUNNING', desired = 'RUNNING', node_id = 'node-a',"
                        + " epoch = 1, operation_id = NULL WHERE id = '%s'".formatted(id.value()));
        return id;
    }

    /** So many, each a minute older than the one before. */
    private static List<SnapshotId> snapshots(
            SessionId session, int count, String reason, String name) throws SQLException {
        List<SnapshotId> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SnapshotId id = new SnapshotId(TestDatabase.text("snp"));
            DATABASE.execute(
                    """
                    INSERT INTO snapshots (id, session_id, kind, state, node_id, epoch, stop, bytes,
                        taken_at, reason, name)
                    VALUES ('%s', '%s', 'FULL', 'LISTED', 'node-a', 1, %d, 1,
                        now() - %d * interval '1 minute', '%s', %s)
                    """
                            .formatted(id.value(), session.value(), count - i, i, reason, name));
            all.add(id);
        }
        return all;
    }

    private static void set(SessionId session, String column, SnapshotId value)
            throws SQLException {
        DATABASE.execute(
                "UPDATE sessions SET %s = '%s' WHERE id = '%s'"
                        .formatted(column, value.value(), session.value()));
    }

    private List<SnapshotId> beyond(SessionId session, int keep) {
        return quotas.ofSessions(List.of(session), keep, ALL).stream()
                .map(Excess::snapshot)
                .toList();
    }

    @Test
    void theOldestBeyondItGoAndNothingThatStands() throws SQLException {
        SessionId session = session();
        List<SnapshotId> made = snapshots(session, 9, "PAUSE", "NULL");
        snapshots(session, 9, "ROLLING", "NULL");
        snapshots(session, 9, "CHECKPOINT", "'kept'");
        set(session, "snapshot_id", made.get(8));
        set(session, "durable_snapshot_id", made.get(7));
        set(session, "preserved_id", made.get(6));
        set(session, "base_snapshot_id", made.get(5));
        DATABASE.execute(
                "UPDATE snapshots SET pinned_until = now() + interval '1 hour' WHERE id = '%s'"
                        .formatted(made.get(4).value()));
        assertThat(beyond(session, 4)).isEmpty();
        assertThat(beyond(session, 2)).containsExactly(made.get(3), made.get(2));
        assertThat(quotas.ofSessions(List.of(session), 0, 1))
                .containsExactly(new Excess(session, made.get(3)));
    }

    @Test
    void whileAnOperationIsAtWorkNoneGoes() throws SQLException {
        SessionId session = session();
        snapshots(session, 3, "SAFETY", "NULL");
        assertThat(beyond(session, 1)).hasSize(2);
        DATABASE.execute(
                "UPDATE sessions SET operation_id = (SELECT id FROM operations WHERE session_id ="
                        + " '%1$s') WHERE id = '%1$s'".formatted(session.value()));
        assertThat(beyond(session, 1)).isEmpty();
    }

    @Test
    void aProjectsQuotaTakesTheOldestOfAllItsSessions() throws SQLException {
        SessionId one = session();
        SessionId other = session();
        List<SnapshotId> old = snapshots(one, 3, "FORK", "NULL");
        DATABASE.execute(
                "UPDATE snapshots SET created_at = created_at - (9 - stop) * interval '1 year'"
                        + " WHERE session_id ="
                        + " '%s'".formatted(one.value()));
        snapshots(other, 3, "FORK", "NULL");
        String project = DATABASE.value("SELECT project_id FROM sessions WHERE id = ?", one);
        int there =
                Integer.parseInt(
                        DATABASE.value(
                                "SELECT count(*) FROM snapshots p JOIN sessions s ON s.id ="
                                        + " p.session_id WHERE s.project_id = ? AND p.state ="
                                        + " 'LISTED' AND p.reason <> 'ROLLING'",
                                project));
        assertThat(quotas.ofProject(project, there, ALL)).isEmpty();
        assertThat(quotas.ofProject(project, there - 2, ALL))
                .containsExactly(new Excess(one, old.get(2)), new Excess(one, old.get(1)));
        assertThat(quotas.projects("", ALL)).contains(project);
        assertThat(quotas.sessions("", ALL)).contains(one, other);
    }

    @Test
    void whatAProjectHasStoredBeyondItsBytesGoesTheOldestFirst() throws SQLException {
        SessionId session = session();
        List<SnapshotId> made = snapshots(session, 4, "CHECKPOINT", "NULL");
        for (int i = 0; i < made.size(); i++) {
            DATABASE.execute(
                    """
                    INSERT INTO durable_snapshots (snapshot_id, session_id, operation_id,
                        lineage_id, state, manifest_key, manifest_digest, bytes_stored,
                        bytes_uploaded, bytes_logical, completed_at)
                    SELECT '%1$s', '%2$s', id, '%2$s', 'COMPLETE', 'm', 'd', 99, 10, 99,
                        now() + interval '1 day' - %3$d * interval '1 hour'
                    FROM operations WHERE session_id = '%2$s'
                    """
                            .formatted(made.get(i).value(), session.value(), i));
        }
        set(session, "durable_snapshot_id", made.get(2));
        String project = DATABASE.value("SELECT project_id FROM sessions WHERE id = ?", session);
        assertThat(ofSession(session, quotas.storedByProject(project, 40, ALL))).isEmpty();
        assertThat(ofSession(session, quotas.storedByProject(project, 15, ALL)))
                .as("the third is what the session stands on")
                .containsExactly(made.get(3), made.get(1));
    }

    /** Others of the project are in the same database. */
    private static List<SnapshotId> ofSession(SessionId session, List<Excess> all) {
        return all.stream()
                .filter(each -> each.session().equals(session))
                .map(Excess::snapshot)
                .toList();
    }

    @Test
    void namesHaveAnEnd() throws SQLException {
        SessionId session = session();
        String project = DATABASE.value("SELECT project_id FROM sessions WHERE id = ?", session);
        snapshots(session, Limits.SNAPSHOTS_NAMED_MAX, "CHECKPOINT", "'named'");
        assertThatThrownBy(() -> checkpoint(project, session, "one more"))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
        checkpoint(project, session, null);
    }

    private void checkpoint(String project, SessionId session, @Nullable String name) {
        requests.command(
                project,
                session,
                TestDatabase.newOperation(),
                OperationKind.CHECKPOINT,
                "key",
                new CommandArguments(name, null, false, false),
                null);
    }
}
