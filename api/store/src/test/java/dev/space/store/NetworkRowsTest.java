package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What sessions may reach, as rows: versions, owners, and who is told. */
class NetworkRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private static final String POLICY = "{\"allow\":[{\"host\":\"a.example\"}]}";
    private final NetworkRows networks = new NetworkRows(DATABASE.db);

    private SessionId session() {
        SessionId id = TestDatabase.newSession();
        new RequestStore(DATABASE.db)
                .create(DATABASE.session(id), TestDatabase.newOperation(), "test", null);
        return id;
    }

    @Test
    void theVersionGrowsWithEachChangeAndOnlyThen() {
        SessionId id = session();
        assertThat(networks.of(DATABASE.project, id)).contains(new NetworkRows.Network(0, null));
        assertThat(networks.set(DATABASE.project, id, POLICY, "me").network().version())
                .isEqualTo(1);
        assertThat(networks.set(DATABASE.project, id, POLICY, "me").network().version())
                .isEqualTo(1);
        assertThat(networks.set(DATABASE.project, id, "{}", "me").network())
                .isEqualTo(new NetworkRows.Network(2, "{}"));
        assertThat(
                        DATABASE.value(
                                "SELECT count(*) FROM events WHERE session_id = ?"
                                        + " AND action = 'set_network' AND actor = 'me'",
                                id))
                .isEqualTo("2");
    }

    @Test
    void anotherProjectsSessionIsNotThere() {
        SessionId id = session();
        assertThat(networks.of("prj_other", id)).isEmpty();
        assertThatThrownBy(() -> networks.set("prj_other", id, POLICY, "me"))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
        assertThat(networks.of(DATABASE.project, id)).contains(new NetworkRows.Network(0, null));
    }

    @Test
    void onlyTheSessionsOwnNodeIsToldAndHearsTheVersionWithItsLease() throws SQLException {
        SessionId id = session();
        DATABASE.node("node-net");
        networks.set(DATABASE.project, id, POLICY, "me");
        assertThat(networks.forNode(id, "node-net")).isEmpty();
        NodeStore nodes = new NodeStore(DATABASE.db);
        SessionId closed = session();
        assertThat(nodes.startTarget("node-net", id).orElseThrow().noNetwork()).isFalse();
        assertThat(nodes.startTarget("node-net", closed).orElseThrow())
                .isEqualTo(
                        new NodeStore.StartTarget(nodes.address("node-net").orElseThrow(), true));
        assertThat(nodes.startTarget("node-nowhere", closed)).isEmpty();
        DATABASE.execute(
                "UPDATE sessions SET node_id = 'node-net' WHERE id = '" + id.value() + "'");
        assertThat(networks.forNode(id, "node-net")).contains(new NetworkRows.Network(1, POLICY));
        assertThat(networks.forNode(id, "node-other")).isEmpty();
        assertThat(
                        new NodeStore(DATABASE.db)
                                .renew("node-net", 0, 0, 0, List.of(), Duration.ofHours(1)))
                .contains(List.of(new NodeStore.SessionEpoch(id.value(), 0, 1)));
    }

    @Test
    void aDestroyedSessionCannotBeOpened() {
        SessionId id = session();
        new RequestStore(DATABASE.db)
                .destroy(DATABASE.project, id, TestDatabase.newOperation(), "test", null);
        assertThatThrownBy(() -> networks.set(DATABASE.project, id, POLICY, "me"))
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.GONE));
    }
}
