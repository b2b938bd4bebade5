package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class IdsTest {

    @Test
    void everyBitOfTheRandomnessCounts() {
        byte[] zero = new byte[Ids.RANDOM_BYTES];
        String first = Ids.text("ses", zero);
        for (int bit = 0; bit < Ids.RANDOM_BYTES * 8; bit++) {
            byte[] other = zero.clone();
            other[bit / 8] = (byte) (1 << (bit % 8));
            assertThat(Ids.text("ses", other)).isNotEqualTo(first);
        }
    }

    @Test
    void whatIsMadeIsValidAndOtherTextIsNot() {
        byte[] random = new byte[Ids.RANDOM_BYTES];
        Arrays.fill(random, (byte) 0xa5);
        String text = Ids.text("op", random);
        assertThat(Ids.isValid("op", text)).isTrue();
        assertThat(Ids.isValid("ses", text)).isFalse();
        assertThat(Ids.isValid("op", text.toUpperCase(java.util.Locale.ROOT))).isFalse();
        assertThatThrownBy(() -> new OperationId("op_../../etc/passwd"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void randomnessOfTheWrongLengthIsRefused() {
        assertThatThrownBy(() -> Ids.text("ses", new byte[15]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
