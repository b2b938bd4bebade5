package dev.space.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every key is needed, no other is taken, each value is checked. */
class ManagerConfigTest {

    private static final String GOOD =
            """
            space.manager.instance=test1
            space.node.slots=8
            space.node.slot-uid-base=61000
            space.node.data-dir=/data/node
            space.node.cache-dir=/cache
            space.node.manager-socket=/run/space/x/manager/manager.sock
            space.manager.exits-dir=/data/manager/exits
            space.manager.jail=/opt/space-jail
            space.node.accelerator=tcg
            space.manager.worker-user=space-node
            """;

    @TempDir Path directory;

    private ManagerConfig load(String text) throws IOException {
        return ManagerConfig.load(Files.writeString(directory.resolve("c"), text));
    }

    @Test
    void aWholeFileIsRead() throws Exception {
        ManagerConfig config = load(GOOD);
        assertThat(config.namespace(3)).isEqualTo("space-test1-3");
        assertThat(config.uid(3)).isEqualTo(61003);
    }

    @Test
    void theGatewaysDoorIsWholeOrNotThere() throws Exception {
        assertThat(load(GOOD).gateway()).isEmpty();
        String socket = "space.manager.gateway-socket=/run/space/x/manager/gateway.sock\n";
        ManagerConfig config = load(GOOD + socket + "space.manager.gateway-user=space-gateway\n");
        assertThat(config.gateway().orElseThrow().user()).isEqualTo("space-gateway");
        assertThatThrownBy(() -> load(GOOD + socket))
                .hasMessageContaining("space.manager.gateway-user is missing");
    }

    @Test
    void everyMissingKeyIsNamed() {
        for (String line : GOOD.lines().toList()) {
            String key = line.substring(0, line.indexOf('='));
            assertThatThrownBy(() -> load(GOOD.replace(line, "")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(key);
        }
    }

    @Test
    void badValuesAreRefused() {
        for (String bad :
                List.of(
                        "space.manager.instance=../x",
                        "space.manager.instance=A",
                        "space.node.slots=0",
                        "space.node.slots=9999",
                        "space.node.slots=x",
                        "space.node.slot-uid-base=0",
                        "space.node.data-dir=relative",
                        "space.node.data-dir=/a/../b",
                        "space.node.accelerator=auto",
                        "space.node.nonsense=1")) {
            assertThatThrownBy(() -> load(GOOD + bad + "\n"))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void theCommandLineIsStrict() {
        PrintStream nowhere =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        for (List<String> bad :
                List.of(
                        List.<String>of(),
                        List.of("--config"),
                        List.of("--sweep"),
                        List.of("--sweep", "../x"),
                        List.of("--sweep", "x", "--now"),
                        List.of("--sweep", "x", "--kill", "y"))) {
            assertThat(Main.run(bad, nowhere)).as("%s", bad).isEqualTo(2);
        }
        assertThat(Main.run(List.of("--config", "/missing"), nowhere)).isEqualTo(1);
    }
}
