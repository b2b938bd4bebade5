package dev.space.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.egress.Cidr;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GatewayConfigTest {

    private static final String NEEDED =
            """
            space.gateway.control-socket=/run/space/x/gateway/control.sock
            space.gateway.sockets-socket=/run/space/x/manager/gateway.sock
            space.gateway.worker-uid=990
            """;

    @TempDir Path directory;

    private GatewayConfig load(String text) throws IOException {
        return GatewayConfig.load(Files.writeString(directory.resolve("gateway.properties"), text));
    }

    @Test
    void readsEveryKey() throws Exception {
        GatewayConfig config =
                load(
                        NEEDED
                                + """
                                space.gateway.http-port=8099
                                space.gateway.resolvers=127.0.0.1:5353, 192.0.2.1
                                space.gateway.denied=203.0.113.0/24,198.51.100.0/24
                                space.gateway.platform-ports=8080, 5432
                                space.gateway.connections=100
                                space.gateway.threads=4
                                """);
        assertThat(config.workerUid()).isEqualTo(990);
        assertThat(config.resolvers()).hasSize(2);
        assertThat(config.resolvers().getFirst().getPort()).isEqualTo(5353);
        assertThat(config.resolvers().getLast().getPort()).isEqualTo(53);
        assertThat(config.denied()).contains(Cidr.parse("203.0.113.0/24")).hasSize(2);
        assertThat(config.platformPorts()).containsExactlyInAnyOrder(8080, 5432);
        assertThat(config.connections()).isEqualTo(100);
        assertThat(config.threads()).isEqualTo(4);
    }

    @Test
    void readsWhereTheVaultIs() throws Exception {
        String ids =
                """
                space.gateway.vault-role-id-file=/x/role-id
                space.gateway.vault-secret-id-file=/x/secret-id
                """;
        assertThat(load(NEEDED).vault()).isEmpty();
        GatewayConfig config =
                load(NEEDED + "space.gateway.vault-address=https://vault.example:8200\n" + ids);
        assertThat(config.vault().orElseThrow().mount()).isEqualTo("space");
        assertThat(config.vault().orElseThrow().secretIdFile()).isEqualTo(Path.of("/x/secret-id"));
        assertThatThrownBy(() ->
                        load(NEEDED + "space.gateway.vault-address=http://vault.example\n" + ids))
                .hasMessageContaining("in the clear");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "space.gateway.resolver=127.0.0.1 | did you mean space.gateway.resolvers?",
                "space.gateway.resolvers=dns.example | space.gateway.resolvers: not an IPv4",
                "space.gateway.denied=10.0.0.1/8 | space.gateway.denied: the address has bits",
                "space.gateway.platform-ports=0 | space.gateway.platform-ports must be 1 to",
                "space.gateway.threads=many | space.gateway.threads must be a number",
                "space.gateway.control-socket=x.sock | must be an absolute path",
                "space.gateway.worker-uid= | space.gateway.worker-uid is missing",
            })
    void namesTheKeyThatIsWrong(String line, String complaint) {
        assertThatThrownBy(() -> load(NEEDED + line + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void takesTheMachinesResolvers() throws Exception {
        Path file =
                Files.writeString(
                        directory.resolve("resolv.conf"),
                        "# a comment\nnameserver ::1\nsearch x\nnameserver 192.0.2.53\n");
        assertThat(GatewayConfig.systemResolvers(file))
                .singleElement()
                .satisfies(
                        s -> assertThat(s.getAddress().getHostAddress()).isEqualTo("192.0.2.53"));
        Path empty = Files.writeString(directory.resolve("empty"), "search x\n");
        assertThatThrownBy(() -> GatewayConfig.systemResolvers(empty))
                .hasMessageContaining("set space.gateway.resolvers");
    }
}
