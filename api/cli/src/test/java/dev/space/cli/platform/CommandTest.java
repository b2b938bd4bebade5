package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CommandTest {

    private static final Duration MAX = Duration.ofSeconds(20);

    @Test
    void outputAndCodeComeBack() {
        Command.Result result =
                Command.run(MAX, List.of("sh", "-c", "echo out; echo err >&2; exit 3"));
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.output()).contains("out").contains("err");
    }

    @Test
    void aFailureNamesTheCommandAndWhatItSaid() {
        assertThatThrownBy(() -> Command.must(MAX, "sh", "-c", "echo broken; exit 1"))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("broken");
    }

    @Test
    void whatHangsIsEnded() {
        assertThatThrownBy(() -> Command.run(Duration.ofMillis(200), List.of("sleep", "60")))
                .hasMessageContaining("did not end");
    }

    @Test
    void aMissingProgramIsNamed() {
        assertThatThrownBy(() -> Command.must(MAX, "no-such-program-here"))
                .hasMessageContaining("no-such-program-here");
    }
}
