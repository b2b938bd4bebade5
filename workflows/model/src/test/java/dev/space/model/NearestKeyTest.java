package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class NearestKeyTest {

    private static final List<String> KNOWN =
            List.of("space.node.slots", "space.node.engine", "space.temporal.target");

    @Test
    void aTypingErrorFindsItsNeighbour() {
        assertThat(NearestKey.of("space.node.slot", KNOWN)).contains("space.node.slots");
        assertThat(NearestKey.of("space.temporal.traget", KNOWN)).contains("space.temporal.target");
    }

    @Test
    void equallyNearNamesAreDecidedByAlphabet() {
        assertThat(NearestKey.of("ac", List.of("bc", "aa"))).contains("aa");
    }

    @Test
    void theComplaintNamesKeyAndNeighbour() {
        assertThat(NearestKey.complaint("space.node.engin", KNOWN))
                .isEqualTo(
                        "unknown configuration key space.node.engin; did you mean"
                                + " space.node.engine?");
        assertThat(NearestKey.complaint("x", List.of())).isEqualTo("unknown configuration key x");
    }

    @Test
    void distanceCountsEdits() {
        assertThat(NearestKey.distance("kitten", "sitting")).isEqualTo(3);
        assertThat(NearestKey.distance("", "abc")).isEqualTo(3);
        assertThat(NearestKey.distance("same", "same")).isZero();
    }
}
