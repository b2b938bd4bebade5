package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.store.CustomerKeyRows.CustomerKey;
import dev.space.store.CustomerKeyRows.Seen;
import dev.space.store.CustomerKeyRows.Setting;
import dev.space.store.CustomerKeyRows.State;
import dev.space.store.LineageRows.Kept;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What looks at a key service lead to, and what is wrapped by which key. */
class CustomerKeyRowsTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private static final Duration LONG = Duration.ofHours(1);
    private final CustomerKeyRows keys = new CustomerKeyRows(DATABASE.db);
    private final LineageRows lineages = new LineageRows(DATABASE.db);

    /** The database is shared, and a key that is revoked stops every start. */
    @AfterEach
    void none() throws SQLException {
        DATABASE.execute("DELETE FROM lineages WHERE wrapped_by IS NOT NULL");
        DATABASE.execute("DELETE FROM customer_keys");
    }

    private CustomerKey set(String place) {
        return keys.set(
                new Setting(
                        TestDatabase.text("ckey"),
                        DATABASE.organisation,
                        place,
                        Blob.of(new byte[] {1}),
                        "probe",
                        "test"));
    }

    private State seen(CustomerKey key, Seen seen) {
        return keys.seen(key.id(), seen, "", LONG);
    }

    @Test
    void twoRefusalsInARowAreMeantAndOneIsNot() {
        CustomerKey key = set("{}");
        assertThat(seen(key, Seen.REFUSED)).isEqualTo(State.USABLE);
        assertThat(seen(key, Seen.USABLE)).isEqualTo(State.USABLE);
        assertThat(seen(key, Seen.REFUSED)).isEqualTo(State.USABLE);
        assertThat(seen(key, Seen.REFUSED)).isEqualTo(State.REVOKED);
        assertThat(seen(key, Seen.NO_ANSWER)).as("until it is proven").isEqualTo(State.REVOKED);
        assertThat(seen(key, Seen.USABLE)).isEqualTo(State.USABLE);
        assertThat(seen(key, Seen.REFUSED)).as("counted anew").isEqualTo(State.USABLE);
    }

    @Test
    void aRefusalOfAServiceThatWasAwayIsCountedToo() {
        CustomerKey key = set("{}");
        assertThat(seen(key, Seen.NO_ANSWER)).isEqualTo(State.UNREACHABLE);
        assertThat(seen(key, Seen.REFUSED)).isEqualTo(State.UNREACHABLE);
        assertThat(seen(key, Seen.NO_ANSWER)).isEqualTo(State.UNREACHABLE);
        assertThat(seen(key, Seen.REFUSED)).isEqualTo(State.REVOKED);
    }

    @Test
    void whatIsAwayForTooLongIsRevoked() throws SQLException {
        CustomerKey key = set("{}");
        assertThat(seen(key, Seen.NO_ANSWER)).isEqualTo(State.UNREACHABLE);
        assertThat(seen(key, Seen.NO_ANSWER)).isEqualTo(State.UNREACHABLE);
        DATABASE.execute("UPDATE customer_keys SET state_since = now() - interval '61 min'");
        assertThat(seen(key, Seen.NO_ANSWER)).isEqualTo(State.REVOKED);
    }

    @Test
    void theSamePlaceIsTheSameKeyAndAnotherOneTakesItsPlace() {
        CustomerKey first = set("{\"a\":1}");
        assertThat(seen(first, Seen.REFUSED)).isEqualTo(State.USABLE);
        assertThat(seen(first, Seen.REFUSED)).isEqualTo(State.REVOKED);
        CustomerKey again = set("{\"a\":1}");
        assertThat(again.id()).isEqualTo(first.id());
        assertThat(again.state()).isEqualTo(State.USABLE);
        String lineage = TestDatabase.text("ses");
        Kept kept = lineages.keep(lineage, new Kept(Blob.of(new byte[] {2}), first.id()));
        CustomerKey other = set("{\"a\":2}");
        assertThat(other.id()).isNotEqualTo(first.id());
        assertThat(keys.current(DATABASE.organisation)).contains(other);
        lineages.forgetUnused();
        assertThat(keys.key(first.id())).as("it wraps something").isPresent();
        assertThat(lineages.wrap(lineage, kept, new Kept(Blob.of(new byte[] {3}), other.id())))
                .isTrue();
        assertThat(lineages.wrap(lineage, kept, kept)).as("somebody was faster").isFalse();
        lineages.forgetUnused();
        assertThat(keys.key(first.id())).isEmpty();
        assertThat(keys.all(10)).isEqualTo(List.of(other));
    }

    @Test
    void aLookAtAKeyThatIsGoneChangesNothing() {
        assertThat(keys.seen("ckey_none", Seen.REFUSED, "", LONG)).isEqualTo(State.USABLE);
    }
}
