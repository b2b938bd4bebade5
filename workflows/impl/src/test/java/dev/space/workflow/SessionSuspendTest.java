package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.session.CommandAnswer.Verdict;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.Durability;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeDurables;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults.Fault;
import dev.space.testkit.Held;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** To the object store and back, on any node. */
final class SessionSuspendTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();
    private @Nullable OperationId create;

    @AfterEach
    void close() {
        world.bucket.reachable(true);
        if (row().state != SessionState.DESTROYED) {
            session.destroy();
            session.awaitState(SessionState.DESTROYED);
        }
        world.nothingIsLeftOf(session);
        world.close();
    }

    private FakeStore.Session row() {
        return session.row();
    }

    private FakeNode.@Nullable Vm vm(String node) {
        return world.node(node).vm(session.id);
    }

    private OperationState last(OperationKind kind) {
        return world.store.operations(session.id).stream()
                .filter(o -> o.kind == kind)
                .toList()
                .getLast()
                .state;
    }

    private void create() {
        create = session.create().operation();
    }

    private void suspended() {
        create();
        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
    }

    private void only(String node) {
        world.store.capacity(List.of(node));
    }

    private void change(NodeChange.Kind kind, String node) {
        session.typed().nodeChanged(new NodeChange(node, kind));
    }

    private void machineIsLost(String node) {
        world.node(node).off();
        world.store.leaseOver(node);
        change(NodeChange.Kind.DECLARED_LOST, node);
        session.reachThrough(Objects.requireNonNull(create)); // it has heard of it
    }

    /** The next call of a transfer stands still; answers it when the call is there. */
    private Held held(String step, Held.Point point, Runnable begin) throws InterruptedException {
        Held held = world.node(World.FIRST).hold(step, point);
        begin.run();
        assertThat(held.awaitArrival(World.PATIENCE)).isTrue();
        return held;
    }

    private Held uploading() throws InterruptedException {
        create();
        return held("upload", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.SUSPEND));
    }

    // ------------------------------------------------------------ there and back

    @Test
    void whatIsSuspendedIsOnNoNodeAndDurable() {
        suspended();
        assertThat(row().node).isNull();
        assertThat(vm(World.FIRST)).isNull();
        assertThat(session.record().durability()).isEqualTo(Durability.DURABLE);
        assertThat(session.record().node()).isNull();
        assertThat(world.bucket.keys()).hasSize(1);
        assertThat(row().durables.getFirst().state).isEqualTo(FakeDurables.State.COMPLETE);
        assertThat(world.node(World.FIRST).snapshots(session.id))
                .as("the copy on its node is a cache")
                .hasSize(1);
    }

    @Test
    void itIsRestoredOnAnotherNode() {
        suspended();
        SnapshotId stored = row().snapshots.getLast().id();
        only(World.SECOND);

        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().node).isEqualTo(World.SECOND);
        assertThat(row().epoch).isEqualTo(2);
        assertThat(Objects.requireNonNull(vm(World.SECOND)).source()).isEqualTo(stored);
        assertThat(row().snapshots.getLast().node()).isEqualTo(World.SECOND);
        assertThat(vm(World.FIRST)).isNull();
    }

    @Test
    void onItsOldNodeNothingIsDownloadedThatIsThere() {
        suspended();
        world.store.collect(world.bucket); // what a row refers to stays
        world.bucket.reachable(false);
        only(World.FIRST);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().node).isEqualTo(World.FIRST);
    }

    @Test
    void afterItACrashIsRecoveredOnItsNewNode() {
        suspended();
        only(World.SECOND);
        session.run(Command.RESTORE);
        session.crash();
        session.awaitRecovered();
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().node).isEqualTo(World.SECOND);
    }

    @Test
    void aPausedSessionIsStoredAsItStands() {
        create();
        session.run(Command.PAUSE);
        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.DONE);
        assertThat(row().snapshots).hasSize(1);
        assertThat(session.run(Command.SUSPEND)).as("again").isEqualTo(OperationState.DONE);
        assertThat(world.faults.count("upload")).isEqualTo(1);
        assertThat(session.submit(Command.PAUSE).verdict()).isEqualTo(Verdict.ALREADY);
    }

    @Test
    void aSecondSuspendSendsOnlyWhatChangedSinceTheFirst() {
        suspended();
        session.run(Command.RESUME);
        assertThat(last(OperationKind.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.DONE);
        assertThat(row().durables).hasSize(2);
        assertThat(session.record().durable()).isEqualTo(row().durables.getLast().stored);
    }

    @Test
    void theDataPlaneRestores() {
        suspended();
        assertThat(session.run(Command.DATA_PLANE)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void whatIsStoredIsNamedByACheckpoint() {
        suspended();
        OperationId operation = session.request(Command.CHECKPOINT);
        session.submit(operation, Command.CHECKPOINT, "before");
        assertThat(session.await(operation)).isEqualTo(OperationState.DONE);
        assertThat(row().names).containsEntry("before", row().snapshots.getLast().id().value());
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(row().node).isNull();
    }

    @Test
    void aRevivedWorkflowKnowsWhatIsStored() {
        suspended();
        session.terminateAndRevive();
        only(World.SECOND);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().node).isEqualTo(World.SECOND);
    }

    // ------------------------------------------------------------ failures

    @Test
    void withoutAPauseItGoesOn() {
        create();
        world.faults.script("pause", Fault.REFUSED);
        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.FAILED);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(Objects.requireNonNull(vm(World.FIRST)).running()).isTrue();
        assertThat(world.bucket.keys()).isEmpty();
    }

    @Test
    void withoutAnUploadItIsPausedAndWhatWasSentIsGarbage() {
        create();
        Fault[] refused = new Fault[8];
        Arrays.fill(refused, Fault.REFUSED);
        refused[0] = Fault.ANSWER_LOST;
        world.faults.script("upload", refused);
        world.faults.script("upload", Fault.REFUSED);

        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.FAILED);
        assertThat(row().state).isEqualTo(SessionState.PAUSED);
        assertThat(row().durables.getFirst().state).isEqualTo(FakeDurables.State.GARBAGE);
        assertThat(session.record().durable()).isNull();
        assertThat(world.bucket.keys()).hasSize(1);
        world.store.collect(world.bucket);
        assertThat(world.bucket.keys()).isEmpty();
        assertThat(session.run(Command.RESUME)).isEqualTo(OperationState.DONE);
    }

    @Test
    void anUploadGoesOnWhenItsNodeIsBack() {
        create();
        world.faults.script("upload", Fault.CALL_LOST, Fault.LATE, Fault.ANSWER_LOST);
        assertThat(session.run(Command.SUSPEND)).isEqualTo(OperationState.DONE);
        assertThat(world.bucket.keys()).hasSize(1);
    }

    @Test
    void withoutTheObjectStoreItStaysSuspended() {
        suspended();
        only(World.SECOND);
        world.bucket.reachable(false);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.FAILED);
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(row().node).isNull();
        assertThat(session.record().node()).isNull();

        world.bucket.reachable(true);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void withoutRoomAnywhereItStaysSuspended() {
        suspended();
        world.store.capacity(List.of());
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.FAILED);
        assertThat(world.store.operations(session.id).getLast().error)
                .isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
        world.store.capacity(List.of(World.FIRST));
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
    }

    @Test
    void aNodeThatCannotStartItIsLeftForAnother() {
        suspended();
        world.node(World.FIRST).room(0);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().node).isEqualTo(World.SECOND);
        assertThat(row().epoch).isEqualTo(3);
        assertThat(world.node(World.FIRST).snapshots(session.id)).as("its copy stays").hasSize(1);
    }

    // ------------------------------------------------------------ cancel

    @Test
    void aResumeCancelsTheUpload() throws InterruptedException {
        Held upload = uploading();
        OperationId resume = session.request(Command.RESUME);
        assertThat(session.submit(resume, Command.RESUME, null).verdict())
                .isEqualTo(Verdict.WAITING);
        upload.release();
        assertThat(session.await(resume)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.CANCELLED);
        assertThat(last(OperationKind.RESUME)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().durables.getFirst().state).isEqualTo(FakeDurables.State.GARBAGE);
    }

    @Test
    void theDataPlaneCancelsTheUpload() throws InterruptedException {
        Held upload = uploading();
        OperationId data = session.request(Command.DATA_PLANE);
        session.submit(data, Command.DATA_PLANE, null);
        upload.release();
        assertThat(session.await(data)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.CANCELLED);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aRollbackCancelsTheUpload() throws InterruptedException {
        create();
        session.run(Command.CHECKPOINT);
        SnapshotRef back = row().snapshots.getFirst();
        Held upload =
                held("upload", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.SUSPEND));
        OperationId rollback = Rollbacks.request(world, session, back.id(), false);
        session.submit(rollback, Command.ROLLBACK, null);
        upload.release();
        assertThat(session.await(rollback)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.CANCELLED);
    }

    @Test
    void aPauseDuringTheUploadIsAlreadySo() throws InterruptedException {
        Held upload = uploading();
        assertThat(session.submit(Command.PAUSE).verdict()).isEqualTo(Verdict.ALREADY);
        upload.release();
        session.awaitState(SessionState.SUSPENDED);
    }

    @Test
    void beforeItIsPublishedAResumeWaits() throws InterruptedException {
        create();
        Held pause = held("pause", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.SUSPEND));
        OperationId resume = session.request(Command.RESUME);
        session.submit(resume, Command.RESUME, null);
        pause.release();
        assertThat(session.await(resume)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
    }

    @Test
    void aSuspendCancelsTheDownload() throws InterruptedException {
        suspended();
        Held download =
                held("download", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.RESTORE));
        OperationId suspend = session.request(Command.SUSPEND);
        session.submit(suspend, Command.SUSPEND, null);
        download.release();
        assertThat(session.await(suspend)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.RESTORE)).isEqualTo(OperationState.CANCELLED);
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(vm(World.FIRST)).isNull();
    }

    @Test
    void onceTheStartIsSentASuspendWaits() throws InterruptedException {
        suspended();
        Held start = held("start", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.RESTORE));
        OperationId suspend = session.request(Command.SUSPEND);
        session.submit(suspend, Command.SUSPEND, null);
        start.release();
        assertThat(session.await(suspend)).isEqualTo(OperationState.DONE);
        assertThat(last(OperationKind.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.SUSPENDED);
        assertThat(row().durables).hasSize(2);
    }

    @Test
    void aDestroySupersedesTheUpload() throws InterruptedException {
        Held upload = uploading();
        session.destroy();
        upload.release();
        session.awaitState(SessionState.DESTROYED);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.SUPERSEDED);
    }

    @Test
    void aSecondSuspendJoinsTheFirst() throws InterruptedException {
        Held upload = uploading();
        OperationId second = session.request(Command.SUSPEND);
        assertThat(session.submit(second, Command.SUSPEND, null).verdict())
                .isEqualTo(Verdict.JOINED);
        upload.release();
        assertThat(session.await(second)).isEqualTo(OperationState.DONE);
        assertThat(world.faults.count("pause")).isEqualTo(1);
    }

    // ------------------------------------------------------------ lost nodes

    @Test
    void aLostNodeCostsASuspendedSessionNothing() {
        suspended();
        machineIsLost(World.FIRST);
        assertThat(session.run(Command.RESTORE)).isEqualTo(OperationState.DONE);
        assertThat(row().node).isEqualTo(World.SECOND);
    }

    @Test
    void whatRunsGoesOnElsewhereFromWhatIsStored() {
        suspended();
        SnapshotId stored = row().snapshots.getLast().id();
        only(World.FIRST);
        session.run(Command.RESTORE);
        session.run(Command.CHECKPOINT); // only on that node
        world.store.capacity(List.of(World.SECOND));
        machineIsLost(World.FIRST);

        session.awaitRecovered();
        assertThat(last(OperationKind.RECOVER)).isEqualTo(OperationState.DONE);
        assertThat(row().state).isEqualTo(SessionState.RUNNING);
        assertThat(row().node).isEqualTo(World.SECOND);
        assertThat(Objects.requireNonNull(vm(World.SECOND)).source()).isEqualTo(stored);
        session.terminateAndRevive();
        session.crash();
        assertThat(world.awaitThat(() -> row().epoch == 4 && session.quiet())).isTrue();
        assertThat(Objects.requireNonNull(vm(World.SECOND)).source())
                .as("never into the past that was lost")
                .isEqualTo(stored);
    }

    @Test
    void aNodeLostBeforeTheUploadIsDoneLosesThePause() throws InterruptedException {
        Held upload = uploading();
        machineIsLost(World.FIRST);
        upload.release();
        session.awaitState(SessionState.FAILED);
        assertThat(last(OperationKind.SUSPEND)).isEqualTo(OperationState.FAILED);
        assertThat(session.record().durable()).isNull();
    }

    @Test
    void aNodeLostDuringARestoreIsLeft() throws InterruptedException {
        suspended();
        Held download =
                held("download", Held.Point.BEFORE_EFFECT, () -> session.submit(Command.RESTORE));
        machineIsLost(World.FIRST);
        download.release();
        session.awaitState(SessionState.RUNNING);
        assertThat(row().node).isEqualTo(World.SECOND);
    }

    // ------------------------------------------------------------ policies

    @Test
    void aDeadlineSuspends() {
        long at = world.server.currentTimeMillis() + 60_000;
        session.deadline(new DeadlinePolicy(at, PolicyAction.SUSPEND));
        create();
        world.server.sleep(java.time.Duration.ofMinutes(2));
        session.awaitState(SessionState.SUSPENDED);
    }
}
