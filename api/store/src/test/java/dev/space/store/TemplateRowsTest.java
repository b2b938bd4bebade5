package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.store.TemplateRows.Begun;
import dev.space.store.TemplateRows.Stored;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** Who stores a template, and from when on it can be fetched. */
class TemplateRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final TemplateRows rows = new TemplateRows(DATABASE.db);
    private final NodeStore nodes = new NodeStore(DATABASE.db);
    private final String digest = digest();
    private final String name = "n-" + digest.substring(0, 12);

    private static String digest() {
        byte[] bytes = new byte[32];
        ThreadLocalRandom.current().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private String node(String... digests) {
        String id = "n" + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
        nodes.register(
                new NodeStore.Registration(
                        id,
                        "127.0.0.1:1",
                        "none",
                        "[]",
                        "test",
                        1L << 30,
                        1L << 30,
                        1,
                        List.of(digests).stream()
                                .map(d -> new NodeStore.Template(d, name, List.of()))
                                .toList()),
                Duration.ofHours(1));
        return id;
    }

    private Stored stored(String of, Begun begun) {
        return new Stored(of, name, "m/" + begun.number(), "digest", 10, 5, 100);
    }

    private Begun begun(String node, String of) {
        return rows.begin(node, of, name).orElseThrow();
    }

    @Test
    void oneNodeSendsItAndFindsItsUploadAgain() {
        String first = node(digest);
        String second = node(digest);
        Begun begun = begun(first, digest);
        assertThat(begun(first, digest).number()).as("after a restart").isEqualTo(begun.number());
        assertThat(rows.begin(second, digest, name)).as("the first is at it").isEmpty();
        assertThat(rows.find(digest)).as("half a template is none").isEmpty();
        rows.complete(first, begun.number(), stored(digest, begun));
        rows.complete(first, begun.number(), stored(digest, begun));
        assertThat(rows.find(digest)).contains(stored(digest, begun));
        assertThat(rows.begin(first, digest, name)).as("once").isEmpty();
        assertThat(rows.begin(second, digest, name)).isEmpty();
    }

    @Test
    void whoIsGoneLosesItsTurnAndCannotCompleteIt() throws SQLException {
        String gone = node(digest);
        Begun lost = begun(gone, digest);
        DATABASE.execute(
                "UPDATE nodes SET lease_until = now() - interval '16 minutes' WHERE id = '"
                        + gone
                        + "'");
        String other = node(digest);
        Begun begun = begun(other, digest);
        assertThat(begun.number()).isNotEqualTo(lost.number());
        assertThatThrownBy(() -> rows.complete(gone, lost.number(), stored(digest, lost)))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.STALE_FENCE));
        assertThat(references(lost.number())).as("its parts are garbage").isEmpty();
        rows.complete(other, begun.number(), stored(digest, begun));
        assertThat(rows.find(digest)).contains(stored(digest, begun));
    }

    @Test
    void theNextOfANameBuildsOnTheLastAndKeepsItMeanwhile() {
        String node = node(digest);
        Begun first = begun(node, digest);
        rows.complete(node, first.number(), stored(digest, first));
        String next = digest();
        Begun second = begun(node, next);
        assertThat(second.previous()).contains(stored(digest, first));
        TemplateRows.Reference pending = references(second.number()).getFirst();
        assertThat(pending.complete()).isFalse();
        assertThat(pending.previousKey()).isEqualTo("m/" + first.number());
        TemplateRows.Reference complete = references(first.number()).getFirst();
        assertThat(complete.complete()).isTrue();
        assertThat(complete.manifestKey()).isEqualTo("m/" + first.number());
    }

    @Test
    void whatNobodyNeedsIsGivenUpAfterADay() throws SQLException {
        String node = node(digest);
        Begun old = begun(node, digest);
        rows.complete(node, old.number(), stored(digest, old));
        String next = digest();
        Begun newer = begun(node, next);
        rows.complete(node, newer.number(), stored(next, newer));
        rows.giveUpUnused();
        assertThat(rows.find(digest)).as("young").isPresent();
        DATABASE.execute(
                "UPDATE stored_templates SET completed_at = now() - interval '2 days' WHERE name ="
                        + " '"
                        + name
                        + "' AND id = "
                        + old.number());
        rows.giveUpUnused();
        assertThat(rows.find(digest)).as("a node has it").isPresent();
        DATABASE.execute("DELETE FROM node_templates WHERE digest = '" + digest + "'");
        rows.giveUpUnused();
        assertThat(rows.find(digest)).isEmpty();
        assertThat(rows.find(next)).as("the newest of its name").isPresent();
    }

    private List<TemplateRows.Reference> references(long number) {
        return rows.references(number - 1, 1).stream().filter(r -> r.number() == number).toList();
    }
}
