package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.testkit.Held;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What an operator's dashboard reads. */
class MetricsIT extends SharedPlatform {

    /** Sum over both control planes of the samples whose name and labels match. */
    private static double sum(String sample) {
        Matcher found =
                Pattern.compile("(?m)^" + sample + " ([0-9.E+]+)$")
                        .matcher(
                                p().get(p().ports.get(0), "/metrics").body()
                                        + p().get(p().ports.get(1), "/metrics").body());
        double sum = 0;
        while (found.find()) {
            sum += Double.parseDouble(found.group(1));
        }
        return sum;
    }

    private static double operations(String kind) {
        return sum(
                "space_operations_total\\{(?=[^}]*kind=\""
                        + kind
                        + "\")(?=[^}]*outcome=\"DONE\")(?=[^}]*code=\"OK\")[^}]*\\}");
    }

    @Test
    void operationsAndPhasesAreCounted() throws Exception {
        String phases = "space_create_phase_seconds_count\\{[^}]*phase=\"load\"[^}]*\\}";
        double phasesBefore = sum(phases);
        double creates = operations("CREATE");
        double pauses = operations("PAUSE");
        JsonNode session = create(DEFAULT);
        ok(p().post(path(session) + "/pause", ""), 200);
        ok(p().delete(path(session)), 200);
        assertThat(operations("CREATE")).isEqualTo(creates + 1);
        assertThat(operations("PAUSE")).isEqualTo(pauses + 1);
        assertThat(sum(phases)).isEqualTo(phasesBefore + 1);
        assertThat(sum("space_create_phase_seconds_bucket\\{[^}]*phase=\"load\"[^}]*\\}"))
                .isPositive();
    }

    /** The direct call is given up at its cap, and the node's queue makes the sandbox. */
    @Test
    void aCreationByTheQueueIsCountedToo() throws Exception {
        String phases = "space_create_phase_seconds_count\\{[^}]*phase=\"load\"[^}]*\\}";
        double before = sum(phases);
        Held start = p().node.node.hold("start", Held.Point.BEFORE_EFFECT);
        try {
            JsonNode session = create(DEFAULT);
            assertThat(session.get("state").asText()).isEqualTo("RUNNING");
            assertThat(start.awaitArrival(Duration.ZERO)).isTrue();
            assertThat(sum(phases)).isEqualTo(before + 1);
            ok(p().delete(path(session)), 200);
        } finally {
            start.release();
        }
    }
}
