package dev.space.nativeabi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes and descriptors over a unix socket, and peers that do not play along. */
class UnixSocketTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(50);

    @TempDir Path directory;

    @Test
    void descriptorsArriveAndAreTheReceivers() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "content");
        try (Pair pair = new Pair()) {
            try (Descriptor sent = new Descriptor(NativeFile.open(file, 0, 0).descriptor())) {
                pair.client.write(bytes("take it"), List.of(sent, sent), LONG);
            }
            List<Descriptor> came = new ArrayList<>();
            assertThat(pair.server.read(7, came, LONG)).isEqualTo(bytes("take it"));
            assertThat(came).hasSize(2);
            int number = came.getFirst().take();
            assertThat(Files.readString(Path.of("/proc/self/fd/" + number))).isEqualTo("content");
            Calls.close(number);
            came.getLast().close();
            assertThatThrownBy(() -> came.getFirst().take())
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void longMessagesGoThroughWhole() throws Exception {
        byte[] much = new byte[3 << 20];
        new java.util.Random(7).nextBytes(much);
        try (Pair pair = new Pair()) {
            CompletableFuture<byte[]> read =
                    CompletableFuture.supplyAsync(() -> {
                        try {
                            return pair.server.read(much.length, new ArrayList<>(), LONG);
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    });
            pair.client.write(much, List.of(), LONG);
            assertThat(read.get()).isEqualTo(much);
        }
    }

    @Test
    void thePeerIsKnownAndItsSilenceEnds() throws Exception {
        try (Pair pair = new Pair()) {
            int own = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            assertThat(pair.server.peerUid()).isEqualTo(own);
            assertThatThrownBy(() -> pair.server.read(1, new ArrayList<>(), SHORT))
                    .hasMessageContaining("took too long");
            assertThatThrownBy(() -> pair.client.write(new byte[8 << 20], List.of(), SHORT))
                    .hasMessageContaining("took too long");
            assertThat(pair.listener.accept(SHORT)).isNull();
        }
    }

    @Test
    void anEndIsTold() throws Exception {
        try (Pair pair = new Pair()) {
            pair.client.write(bytes("x"), List.of(), LONG);
            pair.client.close();
            assertThatThrownBy(() -> pair.server.read(2, new ArrayList<>(), LONG))
                    .isInstanceOf(EOFException.class);
            assertThatThrownBy(() -> pair.server.write(bytes("y"), List.of(), LONG))
                    .isInstanceOf(NativeException.class);
        }
    }

    @Test
    void pathsThatDoNotFitOrAreNotThereAreRefused() {
        Path deep = directory.resolve("d".repeat(120));
        assertThatThrownBy(() -> UnixSocket.connect(deep)).hasMessageContaining("too long");
        assertThatThrownBy(() -> UnixSocket.connect(directory.resolve("none")))
                .isInstanceOfSatisfying(
                        NativeException.class,
                        e -> assertThat(e.errno()).isEqualTo(NativeException.ENOENT));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private final class Pair implements AutoCloseable {

        private final UnixSocket listener;
        private final UnixSocket client;
        private final UnixSocket server;

        Pair() throws IOException {
            Path path = directory.resolve("socket");
            listener = UnixSocket.listen(path, 4);
            client = UnixSocket.connect(path);
            UnixSocket accepted = listener.accept(LONG);
            assertThat(accepted).isNotNull();
            server = java.util.Objects.requireNonNull(accepted);
        }

        @Override
        public void close() {
            listener.close();
            client.close();
            server.close();
        }
    }
}
