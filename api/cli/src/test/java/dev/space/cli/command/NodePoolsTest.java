package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What `status` tells of the pool is what a node's metrics say. */
final class NodePoolsTest {

    @Test
    void theGaugesAreReadAndNothingElse() {
        String page =
                """
                # HELP space_node_pool_hot VMs that wait for a session, loaded and run once
                # TYPE space_node_pool_hot gauge
                space_node_pool_hot 2.0
                space_node_pool_hot_made_total 9.0
                # TYPE space_node_pool_prepared gauge
                space_node_pool_prepared 1.0
                """;
        assertThat(NodePools.read(page))
                .contains(new NodePools.Figures(new NodePools.Pool(2, 1), null));
    }

    @Test
    void whatSnapshotsCostIsToldWithItsBounds() {
        String page =
                """
                space_node_pool_hot 0.0
                space_node_pool_prepared 0.0
                space_node_snapshots_bytes 1.048576E9
                space_node_snapshots_max_bytes 0.0
                space_node_session_snapshots_bytes 2.097152E7
                space_node_session_snapshots_max_bytes 1.7179869184E10
                """;
        NodePools.Snapshots told = NodePools.read(page).orElseThrow().snapshots();
        assertThat(told).isEqualTo(new NodePools.Snapshots(1000L << 20, 0, 20 << 20, 16L << 30));
        assertThat(StatusCommand.words(told))
                .isEqualTo("1000 MiB, largest session 20 MiB of 16384");
        assertThat(StatusCommand.words(new NodePools.Snapshots(0, 0, 0, 0))).isEqualTo("-");
        assertThat(StatusCommand.words(new NodePools.Snapshots(1 << 20, 2 << 20, 0, 0)))
                .isEqualTo("1 MiB of 2, largest session 0 MiB");
    }

    @Test
    void aNodeThatTellsNothingHasNone() {
        assertThat(NodePools.read("space_node_pool_hot 2.0\n")).isEmpty();
        assertThat(NodePools.read("")).isEmpty();
    }
}
