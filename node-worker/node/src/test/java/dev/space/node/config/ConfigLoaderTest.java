package dev.space.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConfigLoaderTest {

    private static final String GOOD =
            """
            space.node.id=one
            space.node.token-file=/t
            space.node.api-port=1
            space.node.http-port=2
            space.node.data-dir=/d
            space.node.state-dir=/s
            space.node.cache-dir=/c
            """;

    @TempDir Path directory;

    private Path file(String content) throws Exception {
        return Files.writeString(directory.resolve("f.properties"), content);
    }

    @Test
    void readsKeysAndDefaults() throws Exception {
        NodeConfig config = ConfigLoader.load(file(GOOD + "space.node.prepare=a:small,b:xs\n"));
        assertThat(config.node().prepare()).containsExactly("a:small", "b:xs");
        assertThat(config.node().engine()).isEqualTo("qemu");
        assertThat(config.temporal().target()).isEmpty();
    }

    @Test
    void anUnknownKeyNamesItsNearestNeighbour() throws Exception {
        Path file = file(GOOD + "space.node.slot=3\n");
        assertThatThrownBy(() -> ConfigLoader.load(file))
                .hasMessageContaining("space.node.slot;")
                .hasMessageContaining("did you mean space.node.slots?");
    }

    @Test
    void theNodesNameIsChecked() throws Exception {
        Path file = file(GOOD.replace("id=one", "id=One Two"));
        assertThatThrownBy(() -> ConfigLoader.load(file)).hasMessageContaining("space.node.id");
    }
}
