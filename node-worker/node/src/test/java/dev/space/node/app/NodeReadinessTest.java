package dev.space.node.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.node.config.ConfigLoader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node whose templates nobody knows would only make the first creation fail. */
final class NodeReadinessTest {

    @TempDir Path directory;

    @Test
    void isNotReadyBeforeTheControlPlaneKnowsIt() throws Exception {
        Files.writeString(directory.resolve("token"), "secret\n");
        Path config = directory.resolve("node.properties");
        Files.writeString(
                config,
                """
                space.node.id=test
                space.node.token-file=%1$s/token
                space.node.api-port=0
                space.node.http-port=0
                space.node.data-dir=%1$s/data
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%1$s/cache
                space.node.engine=fake
                space.node.disk-reserve-mib=1
                space.control.url=127.0.0.1:%2$d
                """
                        .formatted(directory, closedPort()));
        try (NodeProcess process = new NodeProcess(ConfigLoader.load(config));
                HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> answer =
                    client.send(
                            HttpRequest.newBuilder(
                                            URI.create(
                                                    "http://127.0.0.1:"
                                                            + process.httpPort()
                                                            + "/health/ready"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).contains("the control plane");
        }
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
