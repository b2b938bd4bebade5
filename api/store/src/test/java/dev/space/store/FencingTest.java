package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.space.model.SpaceException;
import dev.space.store.AcceptStore.Answer;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rules 1, 3, 4, 6, 7, 8, 13 and 14 of the lifecycle, each on the rows. */
class FencingTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final RequestStore requests = new RequestStore(DATABASE.db);
    private final AcceptStore accepts = new AcceptStore(DATABASE.db);
    private final CommitStore commits = new CommitStore(DATABASE.db);
    private final RepairStore repairs = new RepairStore(DATABASE.db);

    @Test
    void acceptanceGivesNumberAndEpochOnce() {
        SessionId session = created();
        OperationId create = onlyOperation(session);
        Answer first = accept(session, create, OperationKind.CREATE);
        Answer second = accept(session, create, OperationKind.CREATE);
        assertThat(first.accepted()).isTrue();
        assertThat(first.number()).isEqualTo(1);
        assertThat(first.epoch()).isEqualTo(1);
        assertThat(first.node()).isNotNull();
        assertThat(second).isEqualTo(first);
        SessionRow row = repairs.session(session).orElseThrow();
        assertThat(row.nodesTouched()).containsExactly(first.node());
        assertThat(row.desired()).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void numbersFollowAcceptanceAndNotRequest() {
        SessionId session = running();
        OperationId early = command(session, OperationKind.PAUSE);
        OperationId late = command(session, OperationKind.CHECKPOINT);
        Answer lateAnswer = accept(session, late, OperationKind.CHECKPOINT);
        assertThat(lateAnswer.number()).isEqualTo(2);
        assertThat(accept(session, early, OperationKind.PAUSE).error())
                .isEqualTo(ErrorCode.OPERATION_IN_PROGRESS);
        assertThat(commit(session, late, fence(lateAnswer, 1), SessionState.RUNNING)).isTrue();
        assertThat(accept(session, early, OperationKind.PAUSE).number()).isEqualTo(3);
    }

    @Test
    void lateAttemptsAndEndedOperationsCannotWrite() {
        SessionId session = running();
        OperationId pause = command(session, OperationKind.PAUSE);
        Answer accepted = accept(session, pause, OperationKind.PAUSE);
        SnapshotId snapshot = new SnapshotId(TestDatabase.text("snp"));
        CommitStore.Snapshot taken =
                new CommitStore.Snapshot(
                        snapshot, SnapshotKind.FULL, "node-a", 1, 1, 10, Instant.EPOCH);
        assertThat(
                        commits.recordSnapshots(
                                        session, pause, fence(accepted, 5), List.of(taken), 0)
                                .written())
                .isTrue();
        assertThat(commit(session, pause, fence(accepted, 4), SessionState.PAUSED)).isFalse();
        assertThat(commit(session, pause, fence(accepted, 6), SessionState.PAUSED)).isTrue();
        assertThat(commit(session, pause, fence(accepted, 6), SessionState.PAUSED))
                .as("a retry finds it written")
                .isTrue();
        OperationId create = onlyOperation(session, OperationKind.CREATE);
        commit(session, create, new Fence(1, 1, 99), SessionState.FAILED);
        SessionRow row = repairs.session(session).orElseThrow();
        assertThat(row.state()).isEqualTo(SessionState.PAUSED);
        assertThat(row.snapshot()).isEqualTo(snapshot.value());
        assertThat(row.durability()).isEqualTo(dev.space.model.Durability.LOCAL);
    }

    @Test
    void tombstoneStopsEverythingButDestroy() {
        SessionId session = running();
        OperationId pause = command(session, OperationKind.PAUSE);
        Answer accepted = accept(session, pause, OperationKind.PAUSE);
        OperationId waiting = command(session, OperationKind.CHECKPOINT);
        OperationId destroy = TestDatabase.newOperation();
        requests.destroy(DATABASE.project, session, destroy, "key", null);
        assertThat(commit(session, pause, fence(accepted, 1), SessionState.PAUSED)).isFalse();
        assertThatThrownBy(() -> command(session, OperationKind.RESUME))
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.GONE));
        assertThat(accept(session, waiting, OperationKind.CHECKPOINT).tombstone())
                .isEqualTo(destroy);
        Answer end = accept(session, destroy, OperationKind.DESTROY);
        assertThat(end.accepted()).isTrue();
        assertThat(stateOf(pause)).isEqualTo(OperationState.SUPERSEDED);
        assertThat(commit(session, destroy, fence(end, 1), SessionState.DESTROYED)).isTrue();
        assertThat(stateOf(waiting)).isEqualTo(OperationState.REFUSED);
        assertThat(
                        DATABASE.value(
                                "SELECT count(*) FROM operations WHERE session_id = ? AND"
                                        + " ended_at IS NULL",
                                session))
                .isEqualTo("0");
    }

    @Test
    void deletingTwiceIsOneDeletion() {
        SessionId session = running();
        OperationId first = TestDatabase.newOperation();
        requests.destroy(DATABASE.project, session, first, "key", null);
        RequestStore.Requested second =
                requests.destroy(
                        DATABASE.project, session, TestDatabase.newOperation(), "key", null);
        assertThat(second.operation()).isEqualTo(first);
    }

    @Test
    void createOnTombstoneIsRefused() {
        SessionId session = created();
        requests.destroy(DATABASE.project, session, TestDatabase.newOperation(), "key", null);
        Answer answer =
                accept(session, onlyOperation(session, OperationKind.CREATE), OperationKind.CREATE);
        assertThat(answer.accepted()).isFalse();
        assertThat(answer.error()).isEqualTo(ErrorCode.GONE);
    }

    @Test
    void anotherNodeNeedsTheFenceOrTheLeaseToBeOver() throws SQLException {
        SessionId session = created();
        OperationId create = onlyOperation(session);
        Answer accepted = accept(session, create, OperationKind.CREATE);
        String from = java.util.Objects.requireNonNull(accepted.node());
        AcceptStore.Move move =
                new AcceptStore.Move(session, create, fence(accepted, 1), from, false);
        assertThat(accepts.move(move).error()).isEqualTo(ErrorCode.NODE_UNREACHABLE);
        DATABASE.node("node-b");
        try {
            AcceptStore.Move acknowledged =
                    new AcceptStore.Move(session, create, fence(accepted, 1), from, true);
            AcceptStore.Moved moved = accepts.move(acknowledged);
            assertThat(moved.moved()).isTrue();
            assertThat(moved.epoch()).isEqualTo(2);
            assertThat(accepts.move(acknowledged)).as("asking twice").isEqualTo(moved);
            assertThat(repairs.session(session).orElseThrow().nodesTouched()).hasSize(2);
            assertThat(commit(session, create, fence(accepted, 9), SessionState.RUNNING))
                    .as("the epoch that was given up cannot write")
                    .isFalse();
        } finally {
            DATABASE.execute("UPDATE nodes SET lease_until = now() WHERE id = 'node-b'");
        }
    }

    @Test
    void destroyedEndsOnTheRowAndWipesTheEnvironment() {
        SessionId session = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        requests.create(
                new RequestStore.NewSession(
                        session,
                        DATABASE.organisation,
                        DATABASE.project,
                        "default",
                        TestDatabase.DIGEST,
                        "xs",
                        null,
                        "{\"a\":\"b\"}",
                        Blob.of(new byte[] {1, 2}),
                        false,
                        null,
                        null),
                create,
                "key",
                null);
        Answer accepted = accept(session, create, OperationKind.CREATE);
        commits.commit(
                write(
                        session,
                        create,
                        fence(accepted, 1),
                        SessionState.DESTROYED,
                        OperationState.FAILED,
                        ErrorCode.NO_CAPACITY,
                        List.of("node-a")));
        assertThat(
                        DATABASE.value(
                                "SELECT env_encrypted IS NULL FROM sessions WHERE id = ?", session))
                .isEqualTo("t");
        assertThat(DATABASE.value("SELECT node_id FROM cleanup_owed WHERE session_id = ?", session))
                .isEqualTo("node-a");
        assertThat(repairs.session(session).orElseThrow().tombstone()).isEqualTo(create);
    }

    @Test
    void retryableFailureFreesTheKeyAndOthersKeepIt() {
        RequestStore.IdempotencyKey key =
                new RequestStore.IdempotencyKey(
                        DATABASE.project, TestDatabase.text("k"), Blob.of(new byte[32]));
        SessionId session = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        assertThat(requests.create(DATABASE.session(session), create, "key", key).isNew()).isTrue();
        RequestStore.Requested again =
                requests.create(
                        DATABASE.session(TestDatabase.newSession()),
                        TestDatabase.newOperation(),
                        "key",
                        key);
        assertThat(again.isNew()).isFalse();
        assertThat(again.operation()).isEqualTo(create);
        byte[] other = new byte[32];
        other[0] = 1;
        assertThatThrownBy(() ->
                        requests.create(
                                DATABASE.session(TestDatabase.newSession()),
                                TestDatabase.newOperation(),
                                "key",
                                new RequestStore.IdempotencyKey(
                                        key.project(), key.key(), Blob.of(other))))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.IDEMPOTENCY_KEY_REUSED));
        assertThat(requests.refuse(session, create, ErrorCode.UNAVAILABLE, "no server")).isTrue();
        assertThat(repairs.session(session).orElseThrow().state())
                .isEqualTo(SessionState.DESTROYED);
        OperationId next = TestDatabase.newOperation();
        SessionId nextSession = TestDatabase.newSession();
        assertThat(requests.create(DATABASE.session(nextSession), next, "key", key).operation())
                .isEqualTo(next);
        requests.refuse(nextSession, next, ErrorCode.INVALID_ARGUMENT, "for good");
        assertThat(
                        requests.create(
                                        DATABASE.session(TestDatabase.newSession()),
                                        TestDatabase.newOperation(),
                                        "key",
                                        key)
                                .operation())
                .isEqualTo(next);
    }

    @Test
    void sameKeyFromManyThreadsMakesOneSession() throws Exception {
        RequestStore.IdempotencyKey key =
                new RequestStore.IdempotencyKey(
                        DATABASE.project, TestDatabase.text("k"), Blob.of(new byte[32]));
        List<Callable<OperationId>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            calls.add(() ->
                    requests.create(
                                    DATABASE.session(TestDatabase.newSession()),
                                    TestDatabase.newOperation(),
                                    "key",
                                    key)
                            .operation());
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<OperationId> answers = new ArrayList<>();
            for (Future<OperationId> answer : threads.invokeAll(calls)) {
                answers.add(answer.get());
            }
            assertThat(answers).hasSize(8).containsOnly(answers.getFirst());
        }
    }

    @Test
    void deadlineIsCheckedAgainstTheRowAtAcceptance() {
        SessionId session = running();
        AcceptStore.Request request =
                new AcceptStore.Request(
                        session,
                        TestDatabase.newOperation(),
                        OperationKind.PAUSE,
                        true,
                        true,
                        null,
                        false,
                        ReasonCode.DEADLINE,
                        "deadline",
                        Instant.now());
        assertThat(accepts.accept(request).error()).isEqualTo(ErrorCode.PRECONDITION_FAILED);
    }

    @Test
    void anotherProjectsSessionDoesNotExist() {
        SessionId session = running();
        assertThatThrownBy(() ->
                        requests.command(
                                "prj_other",
                                session,
                                TestDatabase.newOperation(),
                                OperationKind.PAUSE,
                                "key",
                                CommandArguments.NONE,
                                null))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
    }

    @Test
    void requestedRowsAreClaimedByOneInstance() throws SQLException {
        SessionId session = created();
        DATABASE.execute(
                "UPDATE operations SET sent_at = now() - interval '1 hour' WHERE session_id = '"
                        + session
                        + "'");
        assertThat(repairs.claimRequested(Duration.ofMinutes(30), 100))
                .extracting(OperationRow::session)
                .containsExactly(session);
        assertThat(repairs.claimRequested(Duration.ofMinutes(30), 100)).isEmpty();
    }

    private SessionId created() {
        SessionId session = TestDatabase.newSession();
        requests.create(DATABASE.session(session), TestDatabase.newOperation(), "key", null);
        return session;
    }

    private SessionId running() {
        SessionId session = created();
        OperationId create = onlyOperation(session);
        Answer accepted = accept(session, create, OperationKind.CREATE);
        assertThat(commit(session, create, fence(accepted, 1), SessionState.RUNNING)).isTrue();
        return session;
    }

    private OperationId command(SessionId session, OperationKind kind) {
        OperationId operation = TestDatabase.newOperation();
        requests.command(
                DATABASE.project, session, operation, kind, "key", CommandArguments.NONE, null);
        return operation;
    }

    private Answer accept(SessionId session, OperationId operation, OperationKind kind) {
        return accepts.accept(
                new AcceptStore.Request(
                        session,
                        operation,
                        kind,
                        false,
                        false,
                        null,
                        kind == OperationKind.CREATE,
                        ReasonCode.USER,
                        "",
                        Instant.now()));
    }

    private boolean commit(
            SessionId session, OperationId operation, Fence fence, SessionState state) {
        return commits.commit(
                        write(
                                session,
                                operation,
                                fence,
                                state,
                                OperationState.DONE,
                                null,
                                List.of()))
                .written();
    }

    private static CommitStore.Commit write(
            SessionId session,
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
                "node-a",
                state == SessionState.RUNNING ? fence : null,
                List.of(),
                null,
                null,
                List.of(),
                owed,
                ReasonCode.USER,
                "");
    }

    private static Fence fence(Answer answer, long attempt) {
        return new Fence(answer.epoch(), answer.number(), attempt);
    }

    private OperationState stateOf(OperationId operation) {
        return repairs.operation(operation).orElseThrow().state();
    }

    private static OperationId onlyOperation(SessionId session) {
        return new OperationId(
                DATABASE.value("SELECT id FROM operations WHERE session_id = ?", session));
    }

    private static OperationId onlyOperation(SessionId session, OperationKind kind) {
        return new OperationId(
                DATABASE.value(
                        "SELECT id FROM operations WHERE session_id = ? AND kind = ?",
                        session,
                        kind));
    }
}
