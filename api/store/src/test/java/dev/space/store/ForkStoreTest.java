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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A FORK's rows: the plan, the one commit that makes all of it, and what its children start. */
class ForkStoreTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final RequestStore requests = new RequestStore(DATABASE.db);
    private final AcceptStore accepts = new AcceptStore(DATABASE.db);
    private final CommitStore commits = new CommitStore(DATABASE.db);
    private final RepairStore repairs = new RepairStore(DATABASE.db);
    private final ForkStore forks = new ForkStore(DATABASE.db);

    @Test
    void theCommitMakesAllChildrenOnce() {
        SessionId source = running();
        OperationId fork = request(source, 3, null);
        assertThat(forks.children(fork)).as("before its commit").isEmpty();
        Answer accepted = accept(source, fork, OperationKind.FORK);
        assertThat(accepted.target()).as("a running source is checkpointed").isNull();
        CommitStore.Snapshot taken = snapshot();

        assertThat(commit(source, fork, accepted, 2, SessionState.RUNNING, taken)).isTrue();
        assertThat(commit(source, fork, accepted, 2, SessionState.RUNNING, taken))
                .as("sent again")
                .isTrue();
        List<ForkStore.Made> made = forks.children(fork);
        assertThat(made).hasSize(3);
        for (ForkStore.Made child : made) {
            assertThat(child.session().state()).isEqualTo(SessionState.NEW);
            assertThat(child.session().origin()).isEqualTo(source);
            assertThat(child.session().project()).isEqualTo(DATABASE.project);
            assertThat(child.create().state()).isEqualTo(OperationState.REQUESTED);
            assertThat(child.create().snapshot()).isEqualTo(taken.id().value());
        }
        assertThat(repairs.operation(fork).orElseThrow().snapshot()).isEqualTo(taken.id().value());
        assertThat(plans(fork)).isEqualTo("0");
    }

    @Test
    void aChildMayReachWhatItsSourceMayAndCountsAnew() {
        NetworkRows networks = new NetworkRows(DATABASE.db);
        SessionId source = running();
        networks.set(DATABASE.project, source, "{\"allow\":[]}", "test");
        networks.set(DATABASE.project, source, "{\"dryRun\":true}", "test");
        SessionId child = forks.children(forked(source, 1)).getFirst().session().id();
        assertThat(networks.of(DATABASE.project, child))
                .contains(new NetworkRows.Network(1, "{\"dryRun\":true}"));
        SessionId plain = forks.children(forked(running(), 1)).getFirst().session().id();
        assertThat(networks.of(DATABASE.project, plain)).contains(new NetworkRows.Network(0, null));
    }

    @Test
    void aChildStartsFromTheSnapshotOfItsSourceAndAskingTwiceIsTheSame() {
        OperationId fork = forked(running(), 1);
        ForkStore.Made child = forks.children(fork).getFirst();

        Answer first = accept(child.session().id(), child.create().id(), OperationKind.CREATE);
        assertThat(first.origin()).isEqualTo(child.session().origin());
        assertThat(first.target()).isNotNull();
        assertThat(first.node()).isEqualTo("node-a");
        assertThat(first.epoch()).isEqualTo(1);
        assertThat(accept(child.session().id(), child.create().id(), OperationKind.CREATE))
                .isEqualTo(first);
    }

    @Test
    void aChildIsPlacedWhereItsSnapshotIsAndNowhereElse() throws SQLException {
        OperationId fork = forked(running(), 1);
        ForkStore.Made child = forks.children(fork).getFirst();
        DATABASE.execute(
                "UPDATE snapshots SET node_id = 'node-away' WHERE id = '"
                        + child.create().snapshot()
                        + "'");

        Answer answer = accept(child.session().id(), child.create().id(), OperationKind.CREATE);
        assertThat(answer.accepted()).isTrue();
        assertThat(answer.node()).isNull();
        assertThat(answer.error()).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(repairs.session(child.session().id()).orElseThrow().nodesTouched()).isEmpty();
    }

    @Test
    void whatDoesNotRunForksFromItsNewestAndTheRowKeepsTheChoice() {
        SessionId source = running();
        OperationId pause = command(source, OperationKind.PAUSE);
        CommitStore.Snapshot kept = snapshot();
        commit(
                source,
                pause,
                accept(source, pause, OperationKind.PAUSE),
                1,
                SessionState.PAUSED,
                kept);

        OperationId fork = request(source, 1, null);
        Answer accepted = accept(source, fork, OperationKind.FORK);
        assertThat(accepted.target()).isEqualTo(kept);
        assertThat(repairs.operation(fork).orElseThrow().snapshot()).isEqualTo(kept.id().value());
        assertThat(commit(source, fork, accepted, 1, SessionState.PAUSED, null)).isTrue();
        assertThat(forks.children(fork).getFirst().create().snapshot())
                .isEqualTo(kept.id().value());
        assertThat(repairs.session(source).orElseThrow().snapshot()).isEqualTo(kept.id().value());
    }

    @Test
    void aSnapshotOfAnotherSessionIsRefusedAndNothingIsMade() {
        SessionId other = running();
        forked(other, 1);
        SnapshotId foreign =
                new SnapshotId(
                        DATABASE.value("SELECT id FROM snapshots WHERE session_id = ?", other));
        SessionId source = running();
        OperationId fork = request(source, 2, foreign);

        Answer answer = accept(source, fork, OperationKind.FORK);
        assertThat(answer.accepted()).isFalse();
        assertThat(answer.error()).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
        assertThat(repairs.operation(fork).orElseThrow().state()).isEqualTo(OperationState.REFUSED);
        assertThat(forks.children(fork)).isEmpty();
        assertThat(plans(fork)).isEqualTo("0");
    }

    @Test
    void aDestroyThatWasFasterLeavesNoChildAndNoEnvironment() {
        SessionId source = running();
        OperationId fork = request(source, 2, null);
        Answer accepted = accept(source, fork, OperationKind.FORK);
        assertThat(plans(fork)).isEqualTo("2");
        OperationId destroy = TestDatabase.newOperation();
        requests.destroy(DATABASE.project, source, destroy, "key", null);
        accept(source, destroy, OperationKind.DESTROY);

        assertThat(commit(source, fork, accepted, 2, SessionState.RUNNING, snapshot())).isFalse();
        assertThat(forks.children(fork)).isEmpty();
        assertThat(plans(fork)).isEqualTo("0");
    }

    @Test
    void childrenHaveTheirOwnEnvironmentAndTheSourcesDeadline() throws SQLException {
        SessionId source = running();
        DATABASE.execute(
                "UPDATE sessions SET deadline_at = now() + interval '1 hour',"
                        + " deadline_action = 'DESTROY', auto_resume = true WHERE id = '"
                        + source
                        + "'");
        SessionRow child = forks.children(forked(source, 1)).getFirst().session();

        assertThat(child.deadlineAt())
                .isEqualTo(repairs.session(source).orElseThrow().deadlineAt());
        assertThat(child.deadlineAction()).isEqualTo("DESTROY");
        assertThat(child.autoResume()).isTrue();
        assertThat(
                        DATABASE.value(
                                "SELECT encode(env_encrypted, 'hex') FROM sessions WHERE id = ?",
                                child.id()))
                .isEqualTo("0700");
        DATABASE.execute(
                "UPDATE sessions SET deadline_at = now() - interval '1 hour' WHERE id = '"
                        + source
                        + "'");
        assertThat(forks.children(forked(source, 1)).getFirst().session().deadlineAt()).isNull();
    }

    @Test
    void aChildMayUseNoCredentialUnlessTheForkSaysSo() {
        SessionId source = running();
        CredentialRowsTest.set("fork-key", "a.example");
        GrantRows grants = new GrantRows(DATABASE.db);
        var _ = grants.grant(CredentialRowsTest.ME, source, "fork-key", null);
        SessionId without = forks.children(forked(source, 1)).getFirst().session().id();
        assertThat(grants.list(CredentialRowsTest.ME, without)).isEmpty();
        OperationId fork = request(source, 1, null, true);
        Answer accepted = accept(source, fork, OperationKind.FORK);
        commit(source, fork, accepted, 3, SessionState.RUNNING, snapshot());
        SessionId with = forks.children(fork).getFirst().session().id();
        assertThat(grants.list(CredentialRowsTest.ME, with))
                .singleElement()
                .satisfies(g -> assertThat(g.name()).isEqualTo("fork-key"));
    }

    @Test
    void aDeadlineOfItsOwnWins() {
        SessionId source = running();
        Instant at = Instant.now().plusSeconds(60).truncatedTo(ChronoUnit.MILLIS);
        OperationId fork = TestDatabase.newOperation();
        forks.request(
                new ForkStore.Fork(
                        DATABASE.project,
                        source,
                        fork,
                        "key",
                        null,
                        planned(1),
                        at,
                        "PAUSE",
                        false),
                null);
        commit(
                source,
                fork,
                accept(source, fork, OperationKind.FORK),
                2,
                SessionState.RUNNING,
                snapshot());
        SessionRow child = forks.children(fork).getFirst().session();
        assertThat(child.deadlineAt()).isEqualTo(at);
        assertThat(child.deadlineAction()).isEqualTo("PAUSE");
    }

    @Test
    void anotherProjectsSessionAndOneThatIsOverAreRefused() {
        SessionId source = running();
        assertThat(forks.source("prj_other", source)).isEmpty();
        refused(fork("prj_other", source), ErrorCode.NOT_FOUND);
        requests.destroy(DATABASE.project, source, TestDatabase.newOperation(), "key", null);
        refused(fork(DATABASE.project, source), ErrorCode.GONE);
    }

    private void refused(ForkStore.Fork fork, ErrorCode code) {
        assertThatThrownBy(() -> forks.request(fork, null))
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
        assertThat(plans(fork.operation())).isEqualTo("0");
    }

    private static ForkStore.Fork fork(String project, SessionId source) {
        return new ForkStore.Fork(
                project,
                source,
                TestDatabase.newOperation(),
                "key",
                null,
                planned(1),
                null,
                null,
                false);
    }

    /** A FORK that is done. */
    private OperationId forked(SessionId source, int children) {
        OperationId fork = request(source, children, null);
        Answer accepted = accept(source, fork, OperationKind.FORK);
        assertThat(commit(source, fork, accepted, 2, SessionState.RUNNING, snapshot())).isTrue();
        return fork;
    }

    private OperationId request(SessionId source, int children, @Nullable SnapshotId snapshot) {
        return request(source, children, snapshot, false);
    }

    private OperationId request(
            SessionId source, int children, @Nullable SnapshotId snapshot, boolean inherits) {
        OperationId fork = TestDatabase.newOperation();
        forks.request(
                new ForkStore.Fork(
                        DATABASE.project,
                        source,
                        fork,
                        "key",
                        snapshot,
                        planned(children),
                        null,
                        null,
                        inherits),
                null);
        return fork;
    }

    private static List<ForkStore.Child> planned(int children) {
        return Stream.generate(() ->
                        new ForkStore.Child(
                                TestDatabase.newSession(),
                                TestDatabase.newOperation(),
                                "{\"a\":\"b\"}",
                                Blob.of(new byte[] {7, 0})))
                .limit(children)
                .toList();
    }

    private static String plans(OperationId fork) {
        return DATABASE.value("SELECT count(*) FROM fork_children WHERE operation_id = ?", fork);
    }

    private static CommitStore.Snapshot snapshot() {
        return new CommitStore.Snapshot(
                new SnapshotId(TestDatabase.text("snp")),
                SnapshotKind.FULL,
                "node-a",
                1,
                1,
                10,
                Instant.EPOCH);
    }

    private SessionId running() {
        SessionId session = TestDatabase.newSession();
        OperationId create = TestDatabase.newOperation();
        requests.create(DATABASE.session(session), create, "key", null);
        Answer accepted = accept(session, create, OperationKind.CREATE);
        assertThat(commit(session, create, accepted, 1, SessionState.RUNNING, null)).isTrue();
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
            SessionId session,
            OperationId operation,
            Answer accepted,
            long attempt,
            SessionState state,
            CommitStore.@Nullable Snapshot taken) {
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
                                "node-a",
                                state == SessionState.RUNNING ? fence : null,
                                taken == null ? List.of() : List.of(taken),
                                null,
                                null,
                                List.of(),
                                List.of(),
                                ReasonCode.USER,
                                ""))
                .written();
    }
}
