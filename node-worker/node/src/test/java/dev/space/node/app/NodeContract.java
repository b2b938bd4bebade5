package dev.space.node.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.node.sandbox.Await;
import dev.space.nodeapi.v1.NodeInventory;
import dev.space.nodeapi.v1.PingRequest;
import dev.space.nodeapi.v1.SandboxStarted;
import dev.space.nodeapi.v1.SnapshotTaken;
import io.grpc.StatusRuntimeException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * What every engine keeps, seen from outside of the node: run against the fake and against QEMU.
 */
abstract class NodeContract {

    /** A new session on the node under test. */
    abstract NodeClient client();

    /** A command that prints 1, 2, 3 … for ever. */
    abstract String counter();

    /** VMs on the machine while no session runs, counted from outside. */
    abstract int waitingVms();

    /** Ends the VM of the session from outside. */
    abstract void killVm(NodeClient client);

    /** Stops this process and starts it again while VMs run. */
    abstract void restartNode() throws Exception;

    @Test
    void runsCommandsAndKeepsFiles() {
        try (NodeClient client = client()) {
            client.start("");
            assertThat(client.run("echo hello")).isEqualTo("hello\n");
            assertThat(client.run("echo kept > note")).isEmpty();
            assertThat(client.run("cat note")).isEqualTo("kept\n");
            assertThat(client.exec("exit 3").getProcess().getExitCode()).isEqualTo(3);
            assertThat(client.exec("no-such-command").getProcess().getExitCode()).isEqualTo(127);
            client.release();
        }
    }

    private static void awaitPool(NodeClient client) {
        Await.until(
                "one is hot and one is prepared",
                () -> {
                    NodeInventory inventory = client.inventory();
                    return inventory.getHot() == 1 && inventory.getPrepared() == 1;
                });
    }

    @Test
    void whatWasMadeAheadBecomesTheSessions() {
        try (NodeClient client = client()) {
            awaitPool(client);
            assertThat(client.start("").getRung()).isEqualTo("hot");
            assertThat(client.run("echo mine > f; cat f")).isEqualTo("mine\n");
            assertClockIsRight(client);
            String snapshot = NodeClient.id("snp");
            client.pause(snapshot);
            awaitPool(client);
            SandboxStarted resumed = client.start(snapshot);
            assertThat(resumed.getRung()).isEqualTo("prepared");
            assertThat(resumed.getMemoryLost()).isFalse();
            assertThat(client.run("cat f")).isEqualTo("mine\n");
            assertClockIsRight(client);
            client.release();
        }
    }

    @Test
    void whatWaitedWhenTheProcessEndedIsEnded() throws Exception {
        try (NodeClient client = client()) {
            awaitPool(client);
            restartNode();
            awaitPool(client);
            assertThat(waitingVms()).isEqualTo(2);
            assertThat(client.start("").getRung()).isEqualTo("hot");
            assertThat(client.run("echo alive")).isEqualTo("alive\n");
            client.release();
        }
    }

    @Test
    void pausedMemoryGoesOnWithoutAGap() {
        try (NodeClient client = client()) {
            client.start("");
            client.background("count", counter());
            Await.until("it counts", () -> client.output("count").length() > 12);
            String snapshot = NodeClient.id("snp");
            SnapshotTaken taken = client.pause(snapshot);
            assertThat(taken.getKind()).isEqualTo("FULL");
            assertThat(client.state().getRunningEpoch()).isZero();

            SandboxStarted resumed = client.start(snapshot);
            assertThat(resumed.getMemoryLost()).isFalse();
            int before = client.output("count").length();
            Await.until("it counts on", () -> client.output("count").length() > before + 6);
            assertCounts(client.output("count"));
            client.release();
        }
    }

    private static void assertCounts(String text) {
        String[] lines = text.substring(0, text.lastIndexOf('\n')).split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            assertThat(lines[i]).isEqualTo(Integer.toString(i + 1));
        }
    }

    @Test
    void aCheckpointCanBeGoneBackTo() {
        try (NodeClient client = client()) {
            client.start("");
            assertThat(client.run("echo one > f")).isEmpty();
            String snapshot = NodeClient.id("snp");
            SnapshotTaken taken = client.checkpoint(snapshot);
            assertThat(taken.getPauseMicros()).isPositive();
            assertThat(client.run("echo two > f; cat f")).isEqualTo("two\n");
            client.start(snapshot);
            assertThat(client.run("cat f")).isEqualTo("one\n");
            client.release();
        }
    }

    @Test
    void aKilledVmIsNoticedAndItsDiskBoots() {
        try (NodeClient client = client()) {
            client.start("");
            assertThat(client.run(diskWrite())).isEmpty();
            killVm(client);
            Await.until("the end is noticed", () -> client.state().getState().equals("DEAD"));
            String snapshot = NodeClient.id("snp");
            assertThat(client.preserve(snapshot).getKind()).isEqualTo("DISK");
            SandboxStarted booted = client.start(snapshot);
            assertThat(booted.getRung()).isEqualTo("boot");
            assertThat(client.run("cat f")).isEqualTo("kept\n");
            client.release();
        }
    }

    @Test
    void whatWasWrittenBeforeACheckpointIsOnTheDeadVmsDisk() {
        try (NodeClient client = client()) {
            client.start("");
            assertThat(client.run("echo early > f")).isEmpty();
            client.checkpoint(NodeClient.id("snp"));
            killVm(client);
            Await.until("the end is noticed", () -> client.state().getState().equals("DEAD"));
            String disk = NodeClient.id("snp");
            assertThat(client.preserve(disk).getKind()).isEqualTo("DISK");
            assertThat(client.start(disk).getRung()).isEqualTo("boot");
            assertThat(client.run("cat f")).isEqualTo("early\n");
            assertClockIsRight(client);
            client.release();
        }
    }

    private static void assertClockIsRight(NodeClient client) {
        Instant before = Instant.now();
        long guest =
                client.data()
                        .ping(PingRequest.newBuilder().setTarget(client.target()).build())
                        .getGuestUnixNanos();
        assertThat(Instant.ofEpochSecond(0, guest))
                .isBetween(before.minusSeconds(1), Instant.now().plusSeconds(1));
    }

    /** A write that is on the disk when the command ends. */
    String diskWrite() {
        return "echo kept > f";
    }

    @Test
    void sandboxesOutliveTheNodesProcess() throws Exception {
        String session;
        try (NodeClient client = client()) {
            client.start("");
            client.background("count", counter());
            Await.until("it counts", () -> client.output("count").length() > 12);
            restartNode();
            assertThat(client.state().getState()).isEqualTo("RUNNING");
            int before = client.output("count").length();
            Await.until("it counts on", () -> client.output("count").length() > before + 6);
            assertCounts(client.output("count"));
            session = client.session();
            client.release();
        }
        assertThat(session).isNotEmpty();
    }

    @Test
    void anOldEpochIsRefused() {
        try (NodeClient client = client()) {
            client.start("");
            var old = client.target();
            client.start("");
            assertThatThrownBy(() ->
                            client.data().ping(PingRequest.newBuilder().setTarget(old).build()))
                    .isInstanceOf(StatusRuntimeException.class)
                    .hasMessageContaining("epoch");
            client.release();
        }
    }
}
