package dev.space.node.dataplane;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LivesTest {

    @TempDir Path directory;

    @Test
    void whatWasReadBeforeEachTurnIsStillTrue() {
        Lives lives = Lives.first("a").next("b", 100, 10).next("c", 80, 20).next("d", 90, 30);
        assertThat(lives.agree("d", false, 1_000)).isTrue();
        assertThat(lives.agree("c", false, 90)).isTrue();
        assertThat(lives.agree("c", false, 91)).isFalse();
        assertThat(lives.agree("b", false, 80)).isTrue();
        assertThat(lives.agree("b", false, 81)).isFalse();
        assertThat(lives.agree("a", false, 80)).isTrue();
        assertThat(lives.agree("a", false, 85)).as("the third began before it").isFalse();
        assertThat(lives.agree("a", true, 10)).isTrue();
        assertThat(lives.agree("a", true, 11)).isFalse();
        assertThat(lives.agree("other", false, 0)).isFalse();
    }

    @Test
    void theOldestAreForgotten() {
        Lives lives = Lives.first("0");
        for (int i = 1; i <= Lives.PAST_MAX + 1; i++) {
            lives = lives.next(Integer.toString(i), i, i);
        }
        assertThat(lives.past()).hasSize(Lives.PAST_MAX);
        assertThat(lives.agree("0", false, 0)).isFalse();
        assertThat(lives.agree("1", false, 1)).isTrue();
    }

    @Test
    void aLifeIsFoundAgainAndADamagedOneIsAnother() throws Exception {
        Path file = directory.resolve("life");
        String life = Lives.begin(file);
        assertThat(Lives.of(file)).isEqualTo(life);
        Files.writeString(file, "");
        String other = Lives.of(file);
        assertThat(other).isNotEqualTo(life);
        assertThat(Lives.of(file)).isEqualTo(other);
    }
}
