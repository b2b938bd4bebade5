package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.Command;
import dev.space.model.Ids;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import dev.space.testkit.FakeNode;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checkpoints that a node made by itself, whose reports never came. */
final class SessionRollingTest {

    private final World world = World.calm();
    private final World.Session session = world.new Session().crashing();

    @AfterEach
    void close() {
        session.destroy();
        session.awaitState(SessionState.DESTROYED);
        world.nothingIsLeftOf(session);
        world.close();
    }

    private SnapshotTaken roll(int n) {
        byte[] id = new byte[Ids.RANDOM_BYTES];
        Arrays.fill(id, (byte) n);
        return world.node(World.FIRST)
                .roll(session.id, new SnapshotId(Ids.text(SnapshotId.PREFIX, id)));
    }

    private @Nullable SnapshotId startedFrom() {
        FakeNode.Vm vm = world.node(World.FIRST).vm(session.id);
        return Objects.requireNonNull(vm).source();
    }

    private void crashed(int epoch) {
        session.crash();
        assertThat(world.awaitThat(() -> session.row().epoch == epoch)).isTrue();
        session.awaitState(SessionState.RUNNING);
    }

    @Test
    void aRecoveryStartsFromTheNewestThatTheNodeHasAndListsIt() {
        session.create();
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        SnapshotTaken rolled = roll(1);
        crashed(2);
        assertThat(startedFrom()).isEqualTo(rolled.snapshot());
        assertThat(session.row().snapshots).extracting(SnapshotRef::id).contains(rolled.snapshot());
        assertThat(Objects.requireNonNull(session.record().newest()).id())
                .isEqualTo(rolled.snapshot());
        crashed(3);
        assertThat(startedFrom()).as("nothing newer since").isEqualTo(rolled.snapshot());
    }

    @Test
    void evenWhereNobodyEverAskedForOne() {
        session.create();
        SnapshotTaken rolled = roll(1);
        crashed(2);
        assertThat(startedFrom()).isEqualTo(rolled.snapshot());
    }

    @Test
    void butNotFromAPastThatARollbackLeft() {
        session.create();
        assertThat(session.run(Command.CHECKPOINT)).isEqualTo(OperationState.DONE);
        SnapshotId first = session.row().snapshots.getLast().id();
        roll(1);
        Rollbacks.run(world, session, first, false);
        crashed(3);
        assertThat(startedFrom()).isEqualTo(first);
        SnapshotTaken present = roll(2);
        crashed(4);
        assertThat(startedFrom()).isEqualTo(present.snapshot());
    }
}
