package dev.space.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.objects.ObjectServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real client against the embedded server. */
final class S3ObjectStoreTest extends ObjectStoreContract {

    private static final String SECRET = "not-a-secret-at-all";

    @TempDir static Path data;
    @TempDir Path root;

    @SuppressWarnings("NullAway.Init")
    private static ObjectServer server;

    @SuppressWarnings("NullAway.Init")
    private static S3ObjectStore store;

    @BeforeAll
    static void start() throws Exception {
        server = ObjectServer.start(data, 0, "space", SECRET);
        store = new S3ObjectStore(settings(server.port(), SECRET));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static S3Settings settings(int port, String secret) {
        return new S3Settings(
                "http://127.0.0.1:" + port,
                "us-east-1",
                "space",
                "space",
                Secret.ofText("secret key", secret));
    }

    @Override
    ObjectStore store() {
        return store;
    }

    @Test
    void aSnapshotGoesThereAndComesBackAfterARestart() throws Exception {
        Path own = Files.createDirectory(root.resolve("own"));
        Path snapshot;
        DurableSnapshot durable;
        try (Scene scene = new Scene(root, 9)) {
            snapshot = Trees.first(scene.fresh(), scene.template, scene.random);
            Files.write(snapshot.resolve("large"), Trees.bytes(scene.random, 20 << 20));
            try (ObjectServer first = ObjectServer.start(own, 0, "space", SECRET);
                    var client = new S3DurableStore(settings(first.port(), SECRET))) {
                durable =
                        client.upload(
                                scene.request(1, snapshot, Optional.empty(), Optional.empty()),
                                TransferControl.NONE);
            }
            try (ObjectServer second = ObjectServer.start(own, 0, "space", SECRET);
                    var client = new S3DurableStore(settings(second.port(), SECRET))) {
                Path staging = scene.staging();
                client.download(durable, scene.key, staging, scene.template, TransferControl.NONE);
                Trees.assertSame(staging, snapshot);
                assertThat(client.verify(durable, scene.key, TransferControl.NONE).faults())
                        .isEmpty();
            }
        }
    }

    @Test
    void oneSnapshotIsCheckedOffline() throws Exception {
        Path secret = Files.writeString(root.resolve("secret"), SECRET);
        Path config =
                Files.writeString(
                        root.resolve("config"),
                        """
                        space.object-store.endpoint=http://127.0.0.1:%d
                        space.object-store.access-key=space
                        space.object-store.secret-key-file=%s
                        """
                                .formatted(server.port(), secret));
        try (Scene scene = new Scene(root, 10);
                var client = new S3DurableStore(settings(server.port(), SECRET))) {
            Path snapshot = Trees.first(scene.fresh(), scene.template, scene.random);
            DurableSnapshot durable =
                    client.upload(
                            scene.request(77, snapshot, Optional.empty(), Optional.empty()),
                            TransferControl.NONE);
            Path key =
                    Files.writeString(
                            root.resolve("key"), HexFormat.of().formatHex(scene.key.bytes()));
            String[] plain = {
                "--config", config.toString(),
                "--manifest", durable.manifestKey(),
                "--digest", durable.manifestDigest()
            };
            String[] whole = Arrays.copyOf(plain, 8);
            whole[6] = "--key-file";
            whole[7] = key.toString();
            assertThat(check(plain)).startsWith("0 good").contains("not checked");
            assertThat(check(whole)).startsWith("0 good").contains("chunks");
            String pack = new Names.Owner(Scene.LINEAGE, "ses_one", 77).prefix();
            store.list(
                    pack,
                    listed -> {
                        if (listed.key().endsWith(".pack")) {
                            store.put(
                                    listed.key(),
                                    new byte[(int) listed.length()],
                                    (int) listed.length());
                        }
                    });
            assertThat(check(plain)).startsWith("0 good");
            assertThat(check(whole)).startsWith("1 ").contains("seal").contains("DAMAGED");
            store.list(
                    pack,
                    listed -> {
                        if (listed.key().endsWith(".pack")) {
                            store.delete(listed.key());
                        }
                    });
            assertThat(check(plain)).startsWith("1 ").contains("is missing");
            assertThat(check(new String[] {"--config"})).startsWith("2 usage");
        }
    }

    private static String check(String[] args) throws Exception {
        var bytes = new ByteArrayOutputStream();
        var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int code = VerifyMain.run(args, out, out);
        return code + " " + bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aWrongKeyIsSaid() {
        var wrong = new S3ObjectStore(settings(server.port(), "another"));
        assertThatThrownBy(() -> wrong.stat("lineages/x"))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.OBJECT_STORE_UNAVAILABLE))
                .hasMessageNotContaining("another");
    }

    @Test
    void aServerThatIsAwayIsSaid() {
        var away = new S3ObjectStore(settings(1, SECRET));
        assertThatThrownBy(() -> away.put("lineages/x", new byte[1], 1))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.OBJECT_STORE_UNAVAILABLE))
                .hasMessageContaining("127.0.0.1:1");
    }
}
