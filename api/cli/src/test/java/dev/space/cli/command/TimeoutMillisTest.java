package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

/** A time-out that cannot be is a wrong command line, told before anything starts. */
final class TimeoutMillisTest {

    private final TimeoutMillis seconds = new TimeoutMillis();

    @Test
    void secondsBecomeMilliseconds() {
        assertThat(seconds.convert("1")).isEqualTo(1000);
        assertThat(seconds.convert("31536000")).isEqualTo(31_536_000_000L);
    }

    @Test
    void everythingElseIsRefused() {
        for (String wrong : new String[] {"0", "-1", "x", "", "1.5", "31536001"}) {
            assertThatThrownBy(() -> seconds.convert(wrong))
                    .isInstanceOf(TypeConversionException.class);
        }
    }
}
