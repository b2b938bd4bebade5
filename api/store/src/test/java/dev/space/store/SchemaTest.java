package dev.space.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Durability;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.model.Size;
import dev.space.model.SnapshotKind;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The database knows the same words as the model, and keeps its promises by itself. */
class SchemaTest {
    private static final TestDatabase DATABASE = TestDatabase.shared();
    private static final Pattern WORD = Pattern.compile("'([A-Za-z]+)'::text");

    @Test
    void checksListTheModelsEnums() {
        assertThat(words("sessions_state_known")).isEqualTo(names(SessionState.values()));
        assertThat(words("sessions_desired_known")).isEqualTo(names(SessionState.values()));
        assertThat(words("sessions_durability_known")).isEqualTo(names(Durability.values()));
        assertThat(words("operations_kind_known")).isEqualTo(names(OperationKind.values()));
        assertThat(words("operations_state_known")).isEqualTo(names(OperationState.values()));
        assertThat(words("snapshots_kind_known")).isEqualTo(names(SnapshotKind.values()));
        assertThat(words("sessions_size_known"))
                .isEqualTo(
                        Arrays.stream(Size.values())
                                .map(Size::wireName)
                                .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void eventsAreAppendOnly() throws Exception {
        DATABASE.execute("INSERT INTO events (actor, action, outcome) VALUES ('t', 't', 'OK')");
        assertThatThrownBy(() -> DATABASE.execute("UPDATE events SET actor = 'x'"))
                .hasMessageContaining("append-only");
        assertThatThrownBy(() -> DATABASE.execute("DELETE FROM events"))
                .hasMessageContaining("append-only");
        assertThatThrownBy(() -> DATABASE.execute("TRUNCATE events CASCADE"))
                .hasMessageContaining("append-only");
    }

    @Test
    void serverWritesToDisk() {
        assertThat(DATABASE.value("SHOW fsync")).isEqualTo("on");
        assertThat(DATABASE.value("SHOW synchronous_commit")).isEqualTo("on");
    }

    private static Set<String> words(String constraint) {
        String definition =
                DATABASE.value(
                        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = ?",
                        constraint);
        Set<String> found = new TreeSet<>();
        Matcher matcher = WORD.matcher(definition);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static Set<String> names(Enum<?>[] values) {
        return Arrays.stream(values).map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
    }
}
