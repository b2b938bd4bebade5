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
        assertThat(NodePools.read(page)).contains(new NodePools.Pool(2, 1));
    }

    @Test
    void aNodeThatTellsNothingHasNone() {
        assertThat(NodePools.read("space_node_pool_hot 2.0\n")).isEmpty();
        assertThat(NodePools.read("")).isEmpty();
    }
}
