package dev.space.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.command.BenchCommand;
import dev.space.cli.config.SpaceConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

    @Test
    void theFakePlatformsConfigurationIsAccepted(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("s.yaml"), FakePlatform.CONFIGURATION);
        assertThat(SpaceConfig.load(file)).isNotNull();
    }

    @Test
    void theControlPlanesSessionsFitOnItsNode() {
        List<String> most = List.of("control-plane", "--n=" + Options.CONTROL_PLANE_N_MAX);
        assertThat(Options.of(most, Map.of()).n()).isEqualTo(Options.CONTROL_PLANE_N_MAX);
        List<String> more = List.of("control-plane", "--n=" + (Options.CONTROL_PLANE_N_MAX + 1));
        assertThatThrownBy(() -> Options.of(more, Map.of())).hasMessageContaining("from 1 to");
        assertThat(Options.RUNS_BY_BENCH.get("control-plane"))
                .isLessThanOrEqualTo(Options.CONTROL_PLANE_N_MAX);
    }
}
