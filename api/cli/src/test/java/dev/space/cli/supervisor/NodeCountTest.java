package dev.space.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Proc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NodeCountTest {

    @TempDir Path data = Path.of("");

    private Platform platform = Platform.of(Map.of(), Path.of("/"), null);

    @BeforeEach
    void directories() throws Exception {
        platform = Platform.of(Map.of(), data, null);
        Files.createDirectories(platform.run());
    }

    private SpaceConfig configured(int nodes) throws Exception {
        Path file = data.resolve("space.yaml");
        Files.writeString(file, "space.nodes: " + nodes + "\n");
        return SpaceConfig.load(file);
    }

    @Test
    void oneUntilSomebodySaysOtherwise() {
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), null)).isEqualTo(1);
        assertThat(NodeCount.places(platform)).hasSize(1);
    }

    @Test
    void whatWasAskedForIsRemembered() {
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), 3)).isEqualTo(3);
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), null)).isEqualTo(3);
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), 1)).isEqualTo(1);
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), null)).isEqualTo(1);
    }

    @Test
    void theConfigurationWinsOverTheLastTimeAndTheCommandOverBoth() throws Exception {
        assertThat(NodeCount.choose(platform, SpaceConfig.defaults(), 3)).isEqualTo(3);
        assertThat(NodeCount.choose(platform, configured(2), null)).isEqualTo(2);
        assertThat(NodeCount.choose(platform, configured(2), 4)).isEqualTo(4);
    }

    /** A supervisor that adopts must look after all that lives, whatever is written now. */
    @Test
    void aLivingNodeCounts() throws Exception {
        long pid = ProcessHandle.current().pid();
        long ticks = Proc.startTicks(pid).orElseThrow();
        ProcessRecord.write(platform, new ProcessRecord("node-worker-2", pid, ticks, "now"));
        assertThat(NodeCount.choose(platform, configured(1), null)).isEqualTo(2);
    }
}
