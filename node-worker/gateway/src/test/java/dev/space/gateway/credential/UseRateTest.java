package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.credential.UseLimit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** So many at once, then as they come back. */
final class UseRateTest {

    private long nanos = Long.MAX_VALUE - 5;

    @Test
    void itIsSpentAndComesBackEvenly() {
        UseRate rate = new UseRate(new UseLimit(6, UseLimit.Per.MINUTE), () -> nanos);
        for (int i = 0; i < 6; i++) {
            assertThat(rate.take()).isTrue();
        }
        assertThat(rate.take()).isFalse();
        nanos += Duration.ofSeconds(9).toNanos();
        assertThat(rate.take()).as("one comes back each 10 s").isFalse();
        nanos += Duration.ofMillis(1001).toNanos();
        assertThat(rate.take()).isTrue();
        assertThat(rate.take()).isFalse();
        nanos += Duration.ofHours(9).toNanos();
        for (int i = 0; i < 6; i++) {
            assertThat(rate.take()).isTrue();
        }
        assertThat(rate.take()).as("never more than the limit").isFalse();
    }
}
