package dev.space.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SpaceConfigTest {

    @Test
    void aFileThatSomebodyNamedMustBeThere() {
        assertThatThrownBy(() -> SpaceConfig.load(Path.of("/nonexistent/space.yaml")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("/nonexistent/space.yaml is not there");
    }

    @Test
    void withoutAFileThereAreDefaults() {
        SpaceConfig config = SpaceConfig.parse("f", "");
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
    void aListInTheKeysPlaceIsNamedAsSuch() {
        for (String yaml : new String[] {"- space.api-port: 1", "words", "42"}) {
            assertThatThrownBy(() -> SpaceConfig.parse("space.yaml", yaml))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageStartingWith("space.yaml must hold keys and values");
        }
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
    void numbersThatNothingCanUseAreRefusedHere() {
        for (String wrong :
                List.of(
                        "space.ports.control: 65536",
                        "space.ports.control: -1",
                        "space.node.slots: 1025",
                        "space.node.slots: 0",
                        "space.node.slot-uid-base: 1000",
                        "space.log.keep: 1e3")) {
            assertThatThrownBy(() -> SpaceConfig.parse("f", wrong))
                    .as(wrong)
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("but must be");
        }
        assertThat(
                        SpaceConfig.parse("f", "space.ports.control: 65535")
                                .number(ConfigKey.PORT_CONTROL))
                .isEqualTo(65535);
    }

    @Test
    void aKeyThatIsThereTwiceIsRefused() {
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space.log.keep: 1\nspace.log.keep: 2"))
                .isInstanceOf(ConfigException.class);
        assertThatThrownBy(() ->
                        SpaceConfig.parse("f", "space.log.keep: 1\nspace:\n  log:\n    keep: 2"))
                .hasMessageContaining("space.log.keep is set twice");
    }

    @Test
    void aSectionMayBeEmptyButNoValue() {
        assertThat(SpaceConfig.parse("f", "space:\n  node:\n").isSet(ConfigKey.NODE_ID)).isFalse();
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space.node.prepare:"))
                .hasMessageContaining("space.node.prepare in f has no value");
    }

    @Test
    void whatIsNoYamlIsRefused() {
        assertThatThrownBy(() -> SpaceConfig.parse("f", "space: [unclosed"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("not YAML");
    }
}
