package dev.space.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class SpaceConfigTest {

    @Test
    void aMissingFileMeansDefaults() {
        SpaceConfig config = SpaceConfig.load(Path.of("/nonexistent/space.yaml"));
        assertThat(config.text(ConfigKey.NODE_ENGINE)).isEqualTo("qemu");
        assertThat(config.isSet(ConfigKey.NODE_ENGINE)).isFalse();
    }

    @Test
    void everyDefaultIsAcceptedByItsType() {
        assertThat(Arrays.stream(ConfigKey.values()))
                .allSatisfy(key -> assertThat(key.type().accepts(key.fallback())).isTrue());
    }

    @Test
    void nestedAndDottedKeysMeanTheSame() {
        SpaceConfig nested = SpaceConfig.parse("f", "space:\n  ports:\n    control: 7400\n");
        SpaceConfig dotted = SpaceConfig.parse("f", "space.ports.control: 7400\n");
        assertThat(nested.number(ConfigKey.PORT_CONTROL)).isEqualTo(7400);
        assertThat(dotted.number(ConfigKey.PORT_CONTROL)).isEqualTo(7400);
    }

    @Test
    void listsAreJoined() {
        SpaceConfig config = SpaceConfig.parse("f", "space.node.prepare: [a:xs, b:small]");
        assertThat(config.text(ConfigKey.NODE_PREPARE)).isEqualTo("a:xs,b:small");
    }

    @Test
    void anUnknownKeyNamesItsNearestNeighbour() {
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space.node.slot: 3"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("space.node.slot")
                .hasMessageContaining("did you mean space.node.slots?");
    }

    @Test
    void aValueOfTheWrongFormNamesTheKey() {
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space.node.engine: docker"))
                .hasMessageContaining("space.node.engine")
                .hasMessageContaining("qemu or fake");
    }

    @Test
    void whatIsNoYamlIsRefused() {
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space: [unclosed"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("not YAML");
    }
}
