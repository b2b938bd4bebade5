package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.OperationKind;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where no node can be chosen, the reason tells a full one from one that is away. */
class PlacementTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final NodeStore nodes = new NodeStore(DATABASE.db);
    private final RequestStore requests = new RequestStore(DATABASE.db);
    private final AcceptStore accepts = new AcceptStore(DATABASE.db);

    private void node(String id, String digest, int slots) {
        nodes.register(
                new NodeStore.Registration(
                        id,
                        "127.0.0.1:1",
                        "fake",
                        "[]",
                        "test",
                        64L << 30,
                        64L << 30,
                        slots,
                        List.of(new NodeStore.Template(digest, "t-" + id, List.of("xs")))),
                Duration.ofHours(1));
    }

    private static Instant leaves(String id, String ago) throws SQLException {
        DATABASE.execute(
                "UPDATE nodes SET lease_until = now() - interval '%s' WHERE id = '%s'"
                        .formatted(ago, id));
        return DATABASE.db.inTransaction(tx ->
                tx.first(
                                "SELECT lease_until FROM nodes WHERE id = ?",
                                row ->
                                        java.util.Objects.requireNonNull(
                                                Db.instant(row, "lease_until")),
                                id)
                        .orElseThrow());
    }

    private AcceptStore.Answer creation(String digest) {
        SessionId session = TestDatabase.newSession();
        var operation = TestDatabase.newOperation();
        RequestStore.NewSession like = DATABASE.session(session);
        requests.create(
                new RequestStore.NewSession(
                        session,
                        like.organisation(),
                        like.project(),
                        "t",
                        digest,
                        "xs",
                        null,
                        "{}",
                        null,
                        false,
                        null,
                        null),
                operation,
                "test",
                null);
        AcceptStore.Request request =
                new AcceptStore.Request(
                        session,
                        operation,
                        OperationKind.CREATE,
                        false,
                        false,
                        null,
                        true,
                        ReasonCode.USER,
                        "",
                        Instant.now());
        AcceptStore.Answer first = accepts.accept(request);
        assertThat(accepts.accept(request)).as("asked again").isEqualTo(first);
        return first;
    }

    @Test
    void theOnlyNodeIsNamedWithTheTimeSinceWhenItIsAway() throws Exception {
        String digest = "1".repeat(64);
        node("away-1", digest, 4);
        assertThat(creation(digest).node()).isEqualTo("away-1");
        Instant since = leaves("away-1", "7 minutes");

        AcceptStore.Answer answer = creation(digest);
        assertThat(answer.accepted()).isTrue();
        assertThat(answer.node()).isNull();
        assertThat(answer.error()).isEqualTo(ErrorCode.NODE_AWAY);
        assertThat(answer.detail())
                .contains("node away-1, the only one", "away since " + since, "/v1/nodes");
        assertThat(nodes.aliveUntil(digest)).isEmpty();
    }

    @Test
    void ofSeveralTheOneThatWasThereLastIsNamed() throws Exception {
        String digest = "2".repeat(64);
        node("away-2", digest, 4);
        node("away-3", digest, 4);
        leaves("away-2", "3 hours");
        Instant since = leaves("away-3", "2 hours");
        assertThat(creation(digest).detail())
                .contains("all 2 nodes", "the last one, away-3, since " + since);
    }

    @Test
    void aFullNodeThatIsThereIsNoCapacity() throws Exception {
        String digest = "3".repeat(64);
        node("full-1", digest, 1);
        node("away-4", digest, 4);
        leaves("away-4", "1 minute");
        assertThat(creation(digest).node()).isEqualTo("full-1");
        AcceptStore.Answer answer = creation(digest);
        assertThat(answer.error()).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(answer.detail()).isEqualTo(Placement.NO_ROOM);
        assertThat(nodes.aliveUntil(digest)).isPresent();
    }

    /** Who has it comes first; where that one is full, another one fetches it. */
    @Test
    void aStoredTemplateIsFetchedByANodeThatHasRoom() throws Exception {
        String digest = "5".repeat(64);
        TemplateRows stored = new TemplateRows(DATABASE.db);
        node("has-1", digest, 1);
        node("lacks-1", "6".repeat(64), 4);
        assertThat(creation(digest).node()).isEqualTo("has-1");
        assertThat(creation(digest).error()).isEqualTo(ErrorCode.NO_CAPACITY);
        TemplateRows.Begun begun = stored.begin("has-1", digest, "t").orElseThrow();
        assertThat(creation(digest).error()).as("half of it").isEqualTo(ErrorCode.NO_CAPACITY);
        stored.complete(
                "has-1", begun.number(), new TemplateRows.Stored(digest, "t", "m", "d", 1, 1, 1));
        String chosen = creation(digest).node();
        assertThat(chosen).isNotNull().isNotEqualTo("has-1");
        leaves("has-1", "1 hour");
        assertThat(nodes.aliveUntil(digest)).isPresent();
        DATABASE.execute(
                "UPDATE stored_templates SET state = 'GARBAGE' WHERE digest = '%s'"
                        .formatted(digest));
    }

    @Test
    void whereNoNodeEverHadTheTemplateThatIsSaid() {
        AcceptStore.Answer answer = creation("4".repeat(64));
        assertThat(answer.error()).isEqualTo(ErrorCode.NO_CAPACITY);
        assertThat(answer.detail()).contains("no node has registered with the template");
        assertThat(nodes.aliveUntil("4".repeat(64))).isEmpty();
    }
}
