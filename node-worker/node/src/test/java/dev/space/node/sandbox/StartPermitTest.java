package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.command;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.start;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.dataplane.SandboxProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rule 7: an order that was given under a lease dies with it, even half-way through a start. */
final class StartPermitTest {

    @TempDir Path directory;
    private TestNode node;
    private boolean over;

    @BeforeEach
    void open() {
        node = new TestNode(directory);
        node.permit =
                () -> {
                    if (over) {
                        throw new SpaceException(ErrorCode.UNAVAILABLE, "the lease is over");
                    }
                };
    }

    /** The lease ends when the VM's files are there and nothing of it has run. */
    private void leaseEndsDuringTheStart() {
        node.onPlace = where -> over |= where.equals("start.files");
    }

    private void refused(Runnable start) {
        assertThatThrownBy(start::run)
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        assertThat(node.machine.count()).as("no guest runs").isZero();
        assertThat(node.state()).isEqualTo("NONE");
    }

    @Test
    void aCreationRunsNothingWhenTheLeaseEndsOnTheWay() {
        leaseEndsDuringTheStart();
        refused(() -> node.manager().start(start(ref(1, 1, 1, 1), null)));
        over = false;
        node.onPlace = where -> {};
        node.manager().start(start(ref(1, 1, 1, 2), null));
        assertThat(node.state()).isEqualTo("RUNNING");
        assertThat(node.machine.count()).isEqualTo(1);
    }

    @Test
    void aResumeRunsNothingAndTheSnapshotIsStillThere() throws Exception {
        node.manager().start(start(ref(1, 1, 1, 1), null));
        SandboxProcess note =
                node.manager()
                        .running(SESSION, 1)
                        .processes()
                        .start(command("w", "echo kept > note"));
        assertThat(note.await(Duration.ofSeconds(5))).isTrue();
        var _ = node.manager().pause(take(ref(2, 1, 2, 1), snapshot(1)));
        leaseEndsDuringTheStart();
        refused(() -> node.manager().start(start(ref(3, 2, 3, 1), snapshot(1))));
        over = false;
        node.onPlace = where -> {};
        var resumed = node.manager().start(start(ref(3, 2, 3, 2), snapshot(1)));
        assertThat(resumed.memoryLost()).isFalse();
        SandboxProcess again =
                node.manager().running(SESSION, 2).processes().start(command("r", "cat note"));
        assertThat(again.await(Duration.ofSeconds(5))).isTrue();
        assertThat(again.state().exitCode()).isZero();
    }

    @Test
    void everySlotIsFreeAgain() {
        leaseEndsDuringTheStart();
        for (int attempt = 1; attempt <= 2 * node.slots; attempt++) {
            int now = attempt;
            over = false;
            refused(() -> node.manager().start(start(ref(1, 1, 1, now), null)));
        }
    }
}
