package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.audit.AuditChain;
import dev.space.store.AuditRows.Linked;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The chain over real rows: complete, in one order, and broken by whoever touches a record. */
class AuditRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private final AuditRows audit = new AuditRows(DATABASE.db);

    private void chainAll() {
        while (audit.chain(100) > 0) {
            assertThat(audit).isNotNull();
        }
    }

    private List<Linked> all(String project) {
        List<Linked> all = new ArrayList<>();
        List<Linked> page;
        do {
            long after = all.isEmpty() ? 0 : all.getLast().link().position();
            page = audit.page(DATABASE.organisation, project, after, 7);
            all.addAll(page);
        } while (!page.isEmpty());
        return all;
    }

    private Optional<String> check(List<Linked> links) {
        AuditChain chain = AuditChain.of(DATABASE.organisation);
        return links.stream()
                .map(each -> chain.take(each.link(), each.entry()))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static String event(String object) throws SQLException {
        DATABASE.execute(
                "INSERT INTO events (project_id, actor, action, object, outcome) VALUES ('"
                        + DATABASE.project
                        + "', 'me', 'audit_test', '"
                        + object
                        + "', 'OK')");
        return DATABASE.value("SELECT max(id) FROM events WHERE object = ?", object);
    }

    @Test
    void eachEventGetsOnePlaceAndOthersSeeItsDigestOnly() throws SQLException {
        event("first");
        chainAll();
        int before = all(DATABASE.project).size();
        String second = event("second");
        assertThat(DATABASE.value("SELECT count(*) FROM audit_pending")).isNotEqualTo("0");
        chainAll();
        chainAll();
        List<Linked> now = all(DATABASE.project);
        assertThat(now.size()).isGreaterThan(before);
        assertThat(check(now)).isEmpty();
        assertThat(DATABASE.value("SELECT count(*) FROM audit_chain WHERE event_id = " + second))
                .isEqualTo("1");
        List<Linked> seen = all("prj_other");
        assertThat(seen).hasSameSizeAs(now).allMatch(each -> each.entry() == null);
        assertThat(check(seen)).isEmpty();
        assertThat(audit.page("org_other", DATABASE.project, 0, 10)).isEmpty();
    }

    @Test
    void whoGetsRoundTheTriggersAndChangesARecordIsSeen() throws SQLException {
        String id = event("honest");
        chainAll();
        assertThat(check(all(DATABASE.project))).isEmpty();
        assertThatThrownBy(() -> DATABASE.execute("UPDATE audit_chain SET hash = digest"))
                .hasMessageContaining("append-only");
        change("forged", id);
        try {
            assertThat(check(all(DATABASE.project))).get().asString().endsWith("was changed");
            assertThat(check(all("prj_other"))).as("the links are as they were").isEmpty();
        } finally {
            change("honest", id);
        }
        assertThat(check(all(DATABASE.project))).isEmpty();
    }

    private static void change(String object, String id) throws SQLException {
        DATABASE.execute(
                "BEGIN; ALTER TABLE events DISABLE TRIGGER events_append_only;"
                        + " UPDATE events SET object = '"
                        + object
                        + "' WHERE id = "
                        + id
                        + "; ALTER TABLE events ENABLE TRIGGER events_append_only; COMMIT");
    }
}
