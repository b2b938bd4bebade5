package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class FenceTest {

    @Test
    void epochCountsBeforeNumberAndNumberBeforeAttempt() {
        assertThat(new Fence(1, 9, 9).isStaleAgainst(new Fence(2, 0, 0))).isTrue();
        assertThat(new Fence(2, 1, 9).isStaleAgainst(new Fence(2, 2, 0))).isTrue();
        assertThat(new Fence(2, 2, 1).isStaleAgainst(new Fence(2, 2, 2))).isTrue();
        assertThat(new Fence(2, 2, 2).isStaleAgainst(new Fence(2, 2, 2))).isFalse();
    }

    @Test
    void aLaterStepIsAlwaysHigherThanAnyAttemptOfAnEarlierOne() {
        assertThat(Fence.attempt(1, Integer.MAX_VALUE)).isLessThan(Fence.attempt(2, 1));
    }

    @Test
    void negativePartsAreRefused() {
        assertThatThrownBy(() -> new Fence(-1, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Fence(0, -1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Fence(0, 0, -1)).isInstanceOf(IllegalArgumentException.class);
    }
}
