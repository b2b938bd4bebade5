package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.config.SpaceConfig;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PortsTest {

    @TempDir Path data = Path.of("");

    private Platform platform() {
        return Platform.of(Map.of(), data, data.resolve("space.yaml"));
    }

    @Test
    void chosenPortsDifferAndStay() {
        Ports first = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of());
        assertThat(new HashSet<>(first.byName().values())).hasSize(10);
        assertThat(Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of())).isEqualTo(first);
        assertThat(Ports.stored(platform())).contains(first);
    }

    @Test
    void eachNodeHasItsOwn() {
        Ports one = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of());
        Ports three = Ports.choose(platform(), SpaceConfig.defaults(), 3, Set.of());
        assertThat(new HashSet<>(three.byName().values())).hasSize(10 + 2 * 3);
        assertThat(three.byName()).containsAllEntriesOf(one.byName());
        assertThat(three.of("node-api-3")).isNotEqualTo(three.of("node-api-2"));
        assertThat(Ports.choose(platform(), SpaceConfig.defaults(), 3, Set.of())).isEqualTo(three);
    }

    @Test
    void aChosenPortThatSomebodyTookIsReplaced() throws Exception {
        Ports first = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of());
        try (ServerSocket _ =
                new ServerSocket(first.of("control"), 1, InetAddress.getLoopbackAddress())) {
            Ports second = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of());
            assertThat(second.of("control")).isNotEqualTo(first.of("control"));
            assertThat(second.of("postgres")).isEqualTo(first.of("postgres"));
        }
    }

    @Test
    void aPortOfOurOwnLivingServiceIsKept() throws Exception {
        Ports first = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of());
        try (ServerSocket _ =
                new ServerSocket(first.of("control"), 1, InetAddress.getLoopbackAddress())) {
            Ports second = Ports.choose(platform(), SpaceConfig.defaults(), 1, Set.of("control"));
            assertThat(second).isEqualTo(first);
        }
    }

    @Test
    void onePortForTwoIsRefused() throws Exception {
        Path file = data.resolve("space.yaml");
        Files.writeString(file, "space.ports.control: 23456\nspace.ports.temporal-ui: 23456\n");
        SpaceConfig config = SpaceConfig.load(file);
        assertThatThrownBy(() -> Ports.choose(platform(), config, 1, Set.of()))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("space.ports.temporal-ui is 23456")
                .hasMessageContaining("control");
    }

    @Test
    void aConfiguredPortInUseIsRefusedByName() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path file = data.resolve("space.yaml");
            Files.writeString(file, "space.ports.control: " + taken.getLocalPort());
            SpaceConfig config = SpaceConfig.load(file);
            assertThatThrownBy(() -> Ports.choose(platform(), config, 1, Set.of()))
                    .isInstanceOf(PlatformException.class)
                    .hasMessageContaining("in use by pid " + ProcessHandle.current().pid())
                    .hasMessageContaining("space.ports.control");
        }
    }
}
