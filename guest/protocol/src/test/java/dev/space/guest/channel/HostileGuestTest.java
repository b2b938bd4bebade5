package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.Failure;
import dev.space.guest.protocol.FilePath;
import dev.space.guest.protocol.OutputStart;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.Pong;
import dev.space.guest.protocol.Reply;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The host's side against a guest that says what it wants. */
final class HostileGuestTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(100);

    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @SuppressWarnings("NullAway.Init")
    private SocketChannel guest;

    @SuppressWarnings("NullAway.Init")
    private GuestChannel channel;

    @BeforeEach
    void connect() throws Exception {
        directory = Files.createTempDirectory("space-hostile-");
        var address = UnixDomainSocketAddress.of(directory.resolve("s"));
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            channel = GuestChannel.open(SocketChannel.open(address));
            guest = server.accept();
        }
        var token = Token.random(new SecureRandom());
        var answering = Thread.ofVirtual().start(this::answerHandshake);
        channel.handshake(Handshake.reconnect(token), TIMEOUT);
        answering.join();
    }

    private void answerHandshake() {
        try {
            var bytes = read(Handshake.BYTES);
            var nonce = Arrays.copyOfRange(bytes, Token.BYTES, Token.BYTES + 16);
            guest.write(ByteBuffer.wrap(Handshake.answer(nonce)));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private byte[] read(int count) throws IOException {
        var bytes = ByteBuffer.allocate(count);
        while (bytes.hasRemaining()) {
            assertThat(guest.read(bytes)).isPositive();
        }
        return bytes.array();
    }

    @AfterEach
    void close() throws IOException {
        channel.close();
        guest.close();
        Files.delete(directory.resolve("s"));
        Files.delete(directory);
    }

    private void send(int stream, FrameType type, boolean end, byte[] payload) throws IOException {
        var frame = Frames.encode(stream, type, end, ByteBuffer.wrap(payload));
        while (frame.hasRemaining()) {
            guest.write(frame);
        }
    }

    private static byte[] pong() {
        return Reply.newBuilder().setPong(Pong.getDefaultInstance()).build().toByteArray();
    }

    private static void fails(ErrorCode code, Runnable call) {
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(call::run)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void aGuestMayNameOnlyCodesOfASandboxAndPlainText() throws IOException {
        try (var first = channel.open(GuestClient.pingRequest());
                var second = channel.open(GuestClient.pingRequest())) {
            send(1, FrameType.FAILURE, true, failure("GONE", "bye"));
            fails(ErrorCode.GUEST_UNREACHABLE, () -> first.reply(TIMEOUT));
            send(
                    2,
                    FrameType.FAILURE,
                    true,
                    failure("FILE_NOT_FOUND", "a\u001b[2Jb\nc" + "d".repeat(2000)));
            assertThatExceptionOfType(SpaceException.class)
                    .isThrownBy(() -> second.reply(TIMEOUT))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_NOT_FOUND))
                    .satisfies(e -> assertThat(GuestChannel.detail(e)).startsWith("a?[2Jb?c"))
                    .satisfies(e -> assertThat(GuestChannel.detail(e)).hasSize(512));
        }
    }

    private static byte[] failure(String code, String detail) {
        return Failure.newBuilder().setCode(code).setDetail(detail).build().toByteArray();
    }

    @Test
    void moreThanTheWindowEndsTheChannel() throws IOException {
        try (var stream = channel.open(GuestClient.pingRequest())) {
            var data = new byte[ChannelLimits.DATA_BYTES_MAX];
            for (var i = 0; i <= ChannelLimits.WINDOW_BYTES / data.length; i++) {
                send(1, FrameType.DATA, false, data);
            }
            assertThat(channel.ended().join()).hasMessageContaining("window");
            fails(ErrorCode.GUEST_UNREACHABLE, () -> channel.open(GuestClient.pingRequest()));
            assertThat(stream).isNotNull();
        }
    }

    @Test
    void creditThatWasNotUsedEndsTheChannel() throws IOException {
        try (var stream = channel.open(GuestClient.pingRequest())) {
            send(1, FrameType.CREDIT, false, new byte[] {1, 0, 0, 0});
            assertThat(channel.ended().join()).hasMessageContaining("credit");
            fails(ErrorCode.GUEST_UNREACHABLE, () -> stream.reply(TIMEOUT));
        }
    }

    @Test
    void theWrongReplyAndNonsenseAreFailuresOfTheGuest() throws IOException {
        var client = new GuestClient(channel, TIMEOUT);
        try (var stream = channel.open(GuestClient.getRequest("p", Duration.ZERO, false))) {
            answer(1, pong());
            assertThat(stream.reply(TIMEOUT).hasProcess()).isFalse();
        }
        var answering = Thread.ofVirtual().start(() -> answer(2, pong()));
        fails(ErrorCode.GUEST_UNREACHABLE, client::status);
        assertThat(answering).isNotNull();
        var nonsense = Thread.ofVirtual().start(() -> answer(3, "\u0007nonsense".getBytes(UTF_8)));
        fails(ErrorCode.GUEST_UNREACHABLE, client::ping);
        assertThat(nonsense).isNotNull();
        assertThat(channel.ended().join()).hasMessageContaining("unreadable");
    }

    /** Answers once a whole request has come. */
    private void answer(int stream, byte[] payload) {
        try {
            var request = ByteBuffer.allocate(4096);
            assertThat(guest.read(request)).isPositive();
            send(stream, FrameType.REPLY, true, payload);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aSilentGuestTimesOutAndIsToldThatNobodyWaits() throws IOException {
        var client = new GuestClient(channel, SHORT);
        fails(ErrorCode.GUEST_UNREACHABLE, client::ping);
        var request = Frames.HEADER_BYTES + GuestClient.pingRequest().getSerializedSize();
        var sent = read(request + Frames.HEADER_BYTES);
        assertThat(sent[request + 8]).isEqualTo((byte) FrameType.CANCEL.code());
    }

    @Test
    void aGuestThatTakesNoDataHoldsAWriterOnlyUntilItsTimeOut() {
        var files = new GuestFiles(channel, SHORT);
        var path = FilePath.newBuilder().setPath(ByteString.copyFromUtf8("f")).build();
        try (var writer = files.write(path, 0, false)) {
            fails(
                    ErrorCode.GUEST_UNREACHABLE,
                    () -> writer.write(ByteBuffer.allocate(ChannelLimits.WINDOW_BYTES + 1)));
        }
    }

    @Test
    void aConnectionThatEndsFailsWhoWaits() throws IOException {
        try (var stream = channel.open(GuestClient.pingRequest())) {
            guest.close();
            fails(ErrorCode.GUEST_UNREACHABLE, () -> stream.reply(TIMEOUT));
        }
        fails(ErrorCode.GUEST_UNREACHABLE, () -> channel.open(GuestClient.pingRequest()));
    }

    @Test
    void severalRequestsComeInOneWrite() throws Exception {
        var ping = GuestClient.pingRequest();
        var opened = channel.open(List.of(ping, ping, ping));
        var bytes = ByteBuffer.allocate(1 << 10);
        var frame = Frames.HEADER_BYTES + ping.getSerializedSize();
        assertThat(guest.read(bytes)).as("in one read").isEqualTo(3 * frame);
        opened.forEach(GuestStream::close);
    }

    @Test
    void ofTooManyRequestsNoneIsSent() throws Exception {
        var many = Collections.nCopies(ChannelLimits.STREAMS_MAX + 1, GuestClient.pingRequest());
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(() -> channel.open(many))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
        guest.configureBlocking(false);
        assertThat(guest.read(ByteBuffer.allocate(1))).isZero();
        guest.configureBlocking(true);
    }

    @Test
    void theFirstAnswerOfAnOutputIsCreditedWithTheOutput() throws Exception {
        var start = Reply.newBuilder().setOutputStart(OutputStart.getDefaultInstance()).build();
        var request = GuestClient.attachRequest("p", OutputStream.OUTPUT_STREAM_STDOUT, 0, true);
        try (var stream = channel.open(request)) {
            read(Frames.HEADER_BYTES + request.getSerializedSize());
            send(1, FrameType.REPLY, false, start.toByteArray());
            var output = ProcessOutput.of(stream, TIMEOUT);
            assertThatExceptionOfType(SpaceException.class).isThrownBy(() -> output.read(SHORT));
            guest.configureBlocking(false);
            assertThat(guest.read(ByteBuffer.allocate(1))).as("not woken for it").isZero();
            guest.configureBlocking(true);
            send(1, FrameType.DATA, false, new byte[] {'x'});
            assertThat(output.read(TIMEOUT)).containsExactly('x');
            assertThatExceptionOfType(SpaceException.class).isThrownBy(() -> output.read(SHORT));
            var credit = ByteBuffer.wrap(read(Frames.HEADER_BYTES + 4));
            credit.order(ByteOrder.LITTLE_ENDIAN);
            assertThat(credit.getInt(Frames.HEADER_BYTES)).isEqualTo(start.getSerializedSize() + 1);
        }
    }
}
