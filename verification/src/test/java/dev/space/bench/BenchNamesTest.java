package dev.space.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.command.BenchCommand;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The command refuses what the program that measures does not know, before it starts anything. */
class BenchNamesTest {

    @Test
    void commandAndProgramKnowTheSameNames() {
        assertThat(BenchCommand.NAMES).isEqualTo(Options.RUNS_BY_BENCH.keySet());
    }

    @Test
    void anUnknownNameIsRefusedByBoth() {
        assertThatThrownBy(() -> Options.of(List.of("nope"), Map.of()))
                .isInstanceOf(IllegalArgumentException.class);
        CommandLine line = new CommandLine(new BenchCommand());
        StringBuilder told = new StringBuilder();
        line.setParameterExceptionHandler((failure, _) -> {
            told.append(failure.getMessage());
            return 2;
        });
        assertThat(line.execute("nope")).isEqualTo(2);
        assertThat(told.toString()).contains("no benchmark \"nope\"", "checkpoint, control-plane");
    }
}
