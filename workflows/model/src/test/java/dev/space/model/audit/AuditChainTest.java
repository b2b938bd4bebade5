package dev.space.model.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.audit.AuditChain.Link;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every change of a chain is seen; those who see few records check it all the same. */
final class AuditChainTest {

    private static final String OWNER = "org_x";

    private record Row(Link link, @Nullable AuditEntry entry) {}

    private static AuditEntry entry(int number) {
        return new AuditEntry(
                Instant.ofEpochSecond(1_700_000_000L + number, 1_000L * number),
                number % 2 == 0 ? "prj_a" : "prj_b",
                number % 3 == 0 ? null : "ses_" + number,
                "key_1",
                "grant_credential",
                "api",
                "OK",
                "",
                number % 3 == 0 ? null : (long) number,
                null);
    }

    private static List<Row> chain(int links) {
        List<Row> rows = new ArrayList<>();
        String before = AuditChain.start(OWNER);
        for (int i = 1; i <= links; i++) {
            AuditEntry entry = entry(i);
            String hash = AuditChain.next(before, i, entry.project(), entry.digest());
            rows.add(new Row(new Link(i, entry.project(), entry.digest(), hash), entry));
            before = hash;
        }
        return rows;
    }

    private static Optional<String> check(List<Row> rows) {
        AuditChain chain = AuditChain.of(OWNER);
        return rows.stream()
                .map(row -> chain.take(row.link(), row.entry()))
                .flatMap(Optional::stream)
                .findFirst();
    }

    @Test
    void aWholeChainIsGoodAlsoForThoseWhoSeeHalfOfIt() {
        List<Row> rows = chain(10);
        assertThat(check(rows)).isEmpty();
        List<Row> half =
                rows.stream()
                        .map(r -> r.link().project().equals("prj_a") ? r : new Row(r.link(), null))
                        .toList();
        assertThat(check(half)).isEmpty();
        AuditChain other = AuditChain.of("org_y");
        assertThat(other.take(rows.getFirst().link(), null)).contains("the chain is broken at 1");
    }

    @Test
    void eachChangeOfAnyLinkIsSeen() {
        for (int at = 0; at < 10; at++) {
            List<Row> removed = chain(10);
            Row row = removed.remove(at);
            boolean last = at == 9; // its removal shows only against a head that was kept elsewhere
            assertThat(check(removed).isEmpty()).as("removed %s", at).isEqualTo(last);
            Link link = row.link();
            for (Link wrong :
                    List.of(
                            new Link(
                                    link.position() + 1,
                                    link.project(),
                                    link.digest(),
                                    link.hash()),
                            new Link(link.position(), "prj_c", link.digest(), link.hash()),
                            new Link(link.position(), link.project(), "00", link.hash()),
                            new Link(link.position(), link.project(), link.digest(), "00"))) {
                List<Row> rows = chain(10);
                rows.set(at, new Row(wrong, null));
                assertThat(check(rows)).as("%s", wrong).isPresent();
            }
            List<Row> rows = chain(10);
            rows.set(at, new Row(link, entry(at + 100)));
            assertThat(check(rows)).contains("the record at " + (at + 1) + " was changed");
        }
    }

    @Test
    void everyFieldIsInTheDigest() {
        AuditEntry all =
                new AuditEntry(
                        Instant.ofEpochSecond(1), "p", "s", "a", "b", "c", "d", "e", 1L, "n");
        Set<String> digests = new HashSet<>();
        for (AuditEntry other :
                List.of(
                        all,
                        new AuditEntry(
                                Instant.ofEpochSecond(1, 1_000),
                                "p",
                                "s",
                                "a",
                                "b",
                                "c",
                                "d",
                                "e",
                                1L,
                                "n"),
                        new AuditEntry(all.at(), "q", "s", "a", "b", "c", "d", "e", 1L, "n"),
                        new AuditEntry(all.at(), "p", null, "a", "b", "c", "d", "e", 1L, "n"),
                        new AuditEntry(all.at(), "p", "", "a", "b", "c", "d", "e", 1L, "n"),
                        new AuditEntry(all.at(), "p", "s", "ab", "", "c", "d", "e", 1L, "n"),
                        new AuditEntry(all.at(), "p", "s", "a", "b", "cd", "", "e", 1L, "n"),
                        new AuditEntry(all.at(), "p", "s", "a", "b", "c", "d", "", 1L, "n"),
                        new AuditEntry(all.at(), "p", "s", "a", "b", "c", "d", "e", null, "n"),
                        new AuditEntry(all.at(), "p", "s", "a", "b", "c", "d", "e", 1L, null))) {
            assertThat(digests.add(other.digest())).as("%s", other).isTrue();
        }
    }
}
