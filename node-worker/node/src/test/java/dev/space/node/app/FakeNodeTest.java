package dev.space.node.app;

import dev.space.model.SessionId;
import dev.space.node.config.ConfigLoader;
import dev.space.node.engine.fake.FakeMachine;
import dev.space.node.engine.spi.VmExit;
import dev.space.node.templates.FakeTemplates;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

final class FakeNodeTest extends NodeContract {

    @TempDir Path directory;
    private final FakeMachine machine = new FakeMachine();
    private Path config;
    private int port;
    private NodeProcess process;

    @BeforeEach
    void start() throws Exception {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Files.writeString(directory.resolve("token"), "secret\n");
        config = directory.resolve("node.properties");
        Files.writeString(
                config,
                """
                space.node.id=test
                space.node.token-file=%1$s/token
                space.node.api-port=%2$d
                space.node.http-port=0
                space.node.data-dir=%1$s/data
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%1$s/cache
                space.node.engine=fake
                space.node.disk-reserve-mib=1
                space.node.prepare=default:xs
                space.node.rolling.disk-seconds=0
                space.node.rolling.full-seconds=0
                space.node.pool.hot=1
                space.node.pool.prepared=1
                """
                        .formatted(directory, port));
        process = new NodeProcess(ConfigLoader.load(config), machine);
    }

    @AfterEach
    void stop() {
        process.close();
    }

    @Override
    NodeClient client() {
        return new NodeClient(port, "secret", FakeTemplates.DEFAULT_DIGEST, "xs");
    }

    @Override
    String counter() {
        return "counter";
    }

    @Override
    void killVm(NodeClient client) {
        machine.kill(machine.startOf(new SessionId(client.session())), VmExit.Reason.KILLED);
    }

    @Override
    int waitingVms() {
        return machine.count();
    }

    @Override
    void restartNode() throws Exception {
        process.close();
        process = new NodeProcess(ConfigLoader.load(config), machine);
    }
}
