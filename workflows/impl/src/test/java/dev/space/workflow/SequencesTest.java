package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.testkit.Sequences;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The generator itself finds, shortens and tells a failure. */
final class SequencesTest {

    private final Sequences<Integer> numbers =
            new Sequences<>(40, 200, r -> r.nextInt(10), SequencesTest::sevenNeverAfterThree);

    @Test
    void aFailingListIsShortenedToWhatItTakes() {
        long failing =
                LongStream.range(0, 100)
                        .filter(s -> wrong(numbers.of(s)))
                        .findFirst()
                        .orElseThrow();
        assertThatThrownBy(() -> numbers.verify(failing, "the command"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed " + failing + " fails: 7 after 3")
                .hasMessageContaining("with [3, 7]")
                .hasMessageContaining("run it again: the command");
    }

    @Test
    void aSeedAlwaysGivesTheSameList() {
        assertThat(numbers.of(5)).isEqualTo(numbers.of(5)).isNotEqualTo(numbers.of(6));
    }

    private static boolean wrong(List<Integer> list) {
        int three = list.indexOf(3);
        return three >= 0 && list.lastIndexOf(7) > three;
    }

    private static void sevenNeverAfterThree(long seed, List<Integer> list) {
        if (wrong(list)) {
            throw new AssertionError("7 after 3");
        }
    }
}
