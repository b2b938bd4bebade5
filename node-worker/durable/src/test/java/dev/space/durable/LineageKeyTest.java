package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class LineageKeyTest {

    @Test
    void neverPrintsItself() {
        byte[] bytes = new byte[LineageKey.BYTES];
        Arrays.fill(bytes, (byte) 'k');
        try (LineageKey key = new LineageKey(bytes)) {
            assertThat(key.toString()).doesNotContain("kk").doesNotContain("6b6b");
            assertThat(key.matches(new LineageKey(bytes))).isTrue();
        }
    }

    @Test
    void isGoneWhenClosed() {
        LineageKey key = new LineageKey(new byte[LineageKey.BYTES]);
        key.close();
        assertThatThrownBy(key::bytes).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void hasOneLengthOnly() {
        assertThatThrownBy(() -> new LineageKey(new byte[16]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
