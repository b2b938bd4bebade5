package dev.space.app;

import dev.space.node.app.NodeProcess;
import dev.space.node.config.ConfigLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;

/** A whole node-worker with the fake engine, down to a guest in memory; has a template minimal. */
final class WholeNode implements AutoCloseable {
    private final String id;
    private final NodeProcess process;

    WholeNode(Platform platform, Path dir, String id) throws Exception {
        this.id = id;
        Files.writeString(dir.resolve("token"), Platform.TOKEN + "\n");
        Path config = dir.resolve("node.properties");
        Files.writeString(
                config,
                """
                space.node.id=%4$s
                space.node.token-file=%1$s/token
                space.node.api-port=0
                space.node.http-port=0
                space.node.data-dir=%1$s/data
                space.node.state-dir=%1$s/state
                space.node.cache-dir=%1$s/cache
                space.node.engine=fake
                space.node.disk-reserve-mib=1
                space.node.rolling.disk-seconds=0
                space.node.rolling.full-seconds=0
                space.temporal.target=127.0.0.1:%2$d
                space.control.url=127.0.0.1:%3$d
                """
                        .formatted(dir, platform.temporalPort, platform.ports.get(1), id));
        process = new NodeProcess(ConfigLoader.load(config));
        platform.await(
                "the node has registered",
                () -> platform.get("/v1/nodes").body().contains('"' + id + '"'));
        platform.await(
                "its template is known",
                () -> platform.get("/v1/templates").body().contains("minimal"));
    }

    @Override
    public void close() throws SQLException {
        process.close();
        // It has a template named default too, and must not be chosen for its lease's time.
        SharedPlatform.execute(
                "UPDATE nodes SET lease_until = now() - interval '2 hours' WHERE id = '"
                        + id
                        + "'");
    }
}
