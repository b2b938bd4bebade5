package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Registration, lease and numbered reports. */
class NodeStoreTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final NodeStore nodes = new NodeStore(DATABASE.db);

    @Test
    void unknownNodeMustRegister() {
        assertThat(nodes.renew("nobody", 1, 1, 1, List.of(), Duration.ofSeconds(5))).isEmpty();
    }

    @Test
    void repeatedReportsAreTakenOnce() {
        DATABASE.node("node-r");
        String actor = TestDatabase.text("key");
        NodeStore.Audit audit =
                new NodeStore.Audit("ses_none", 1, actor, "exec", "p1", "OK", Instant.EPOCH);
        assertThat(nodes.takeReports("node-r", List.of(audit), LongStream.of(7), 7)).isEqualTo(7);
        assertThat(nodes.takeReports("node-r", List.of(audit), LongStream.of(7), 7)).isEqualTo(7);
        assertThat(DATABASE.value("SELECT count(*) FROM events WHERE actor = ?", actor))
                .isEqualTo("1");
        assertThat(nodes.reportSequence("node-r")).contains(7L);
    }

    @Test
    void templatesFollowWhatNodesReport() {
        DATABASE.node("node-t");
        assertThat(nodes.templateDigest("default")).contains(TestDatabase.DIGEST);
        NodeStore.Template other = new NodeStore.Template("e".repeat(64), "other", List.of());
        nodes.renew("node-t", 1, 1, 1, List.of(other), Duration.ofSeconds(5));
        assertThat(nodes.templateNames()).contains("default", "other");
        assertThat(DATABASE.value("SELECT digest FROM node_templates WHERE node_id = 'node-t'"))
                .isEqualTo("e".repeat(64));
    }

    /** A session for which every node is away is to be told so, and not that none has it. */
    @Test
    void aNameStandsForWhatANodeHasThoughItIsAway() {
        DATABASE.node("node-u");
        DATABASE.node("node-v");
        NodeStore.Template old = new NodeStore.Template("a".repeat(64), "twice", List.of());
        NodeStore.Template newer = new NodeStore.Template("b".repeat(64), "twice", List.of());
        nodes.renew("node-u", 1, 1, 1, List.of(old), Duration.ofSeconds(5));
        nodes.renew("node-v", 1, 1, 1, List.of(newer), Duration.ofSeconds(5));
        nodes.renew("node-v", 1, 1, 1, List.of(), Duration.ofSeconds(5));
        nodes.renew("node-u", 1, 1, 1, List.of(old), Duration.ofSeconds(-5));
        assertThat(nodes.templateDigest("twice")).contains("a".repeat(64));
    }
}
