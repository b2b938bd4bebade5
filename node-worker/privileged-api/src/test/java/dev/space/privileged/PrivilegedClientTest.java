package dev.space.privileged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client against a scripted server: answers, refusals, silence and nonsense. */
class PrivilegedClientTest {

    @TempDir Path directory;
    private Path socket = Path.of("unset");
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        socket = directory.resolve("s");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    @SuppressWarnings("FutureReturnValueIgnored")
    private void serveOnce(Function<Request, byte[]> answer) {
        Thread.ofVirtual()
                .start(() -> {
                    try (FrameChannel c = new FrameChannel(server.accept())) {
                        Request request = Codec.decodeRequest(c.read(Duration.ofSeconds(5)));
                        c.write(answer.apply(request), Duration.ofSeconds(5));
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
    }

    private PrivilegedClient client() {
        return new PrivilegedClient(socket, Duration.ofSeconds(5));
    }

    @Test
    void theAnswerComesBackTyped() throws Exception {
        serveOnce(_ -> Codec.encode(new Reply.SlotReady(4, 61004)));
        assertThat(client().ensureSlot(4)).isEqualTo(61004);
    }

    @Test
    void aRefusalIsAnExceptionWithItsCode() {
        serveOnce(_ -> Codec.encode(new Reply.Refused(RefusalCode.SLOT_BUSY, "slot 4 runs")));
        assertThatThrownBy(() -> client().releaseSlot(4))
                .isInstanceOfSatisfying(
                        PrivilegedException.class,
                        e -> assertThat(e.code()).isEqualTo(RefusalCode.SLOT_BUSY))
                .hasMessage("slot 4 runs");
    }

    @Test
    void nonsenseIsUnreachable() {
        serveOnce(_ -> new byte[] {1, 99});
        unreachable();
    }

    @Test
    void anAnswerOfAnotherKindIsUnreachable() {
        serveOnce(_ -> Codec.encode(new Reply.Done()));
        assertThatThrownBy(() -> client().ensureSlot(1))
                .isInstanceOfSatisfying(
                        PrivilegedException.class,
                        e -> assertThat(e.code()).isEqualTo(RefusalCode.UNREACHABLE));
    }

    @Test
    void silenceEndsAtTheTimeout() {
        PrivilegedClient client = new PrivilegedClient(socket, Duration.ofMillis(50));
        assertThatThrownBy(() -> client.killVmm(1))
                .isInstanceOf(PrivilegedException.class)
                .hasMessageContaining("too long");
    }

    @Test
    void aLengthOutOfBoundsIsRefusedBeforeAllocation() {
        Thread.ofVirtual()
                .start(() -> {
                    try (SocketChannel c = server.accept()) {
                        ByteBuffer b = ByteBuffer.allocate(4).putInt(Integer.MAX_VALUE);
                        c.write(b.flip());
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
        unreachable();
    }

    @Test
    void noServerIsUnreachable() throws IOException {
        server.close();
        unreachable();
    }

    private void unreachable() {
        assertThatThrownBy(() -> client().killVmm(1))
                .isInstanceOfSatisfying(
                        PrivilegedException.class,
                        e -> assertThat(e.code()).isEqualTo(RefusalCode.UNREACHABLE));
    }
}
