package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.StartProcess;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The channel itself against the real daemon: handshakes, tokens, old bytes, hostile bytes. */
final class ChannelIT {

    private static final Duration SHORT = Duration.ofMillis(300);

    @SuppressWarnings("NullAway.Init")
    private LiveDaemon daemon;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        daemon = LiveDaemon.start();
    }

    @AfterEach
    void stop() throws IOException {
        // Not started when the test was skipped.
        if (daemon != null) {
            daemon.close();
        }
    }

    private static void unreachable(Runnable call) {
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(call::run)
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.GUEST_UNREACHABLE));
    }

    @Test
    void theFirstRequestsTravelWithTheHandshake() throws IOException {
        try (var channel = GuestChannel.open(daemon.connect())) {
            var bind = GuestClient.bindRequest(Bind.newBuilder().setHostname("box").build());
            var replies =
                    channel.handshake(
                            daemon.nextHandshake(),
                            List.of(GuestClient.pingRequest(), bind),
                            LiveDaemon.TIMEOUT);
            assertThat(replies.get(0).getPong().getVersion()).isNotEmpty();
            assertThat(replies.get(1).hasBound()).isTrue();
        }
    }

    @Test
    void onlyTheCurrentTokenOpensASession() throws IOException {
        var random = new SecureRandom();
        daemon.open().close();
        try (var channel = GuestChannel.open(daemon.connect())) {
            var wrong = Handshake.reconnect(Token.random(random));
            unreachable(() -> channel.handshake(wrong, SHORT));
            var unset = Handshake.afterStart(Token.UNSET, Token.random(random));
            unreachable(() -> channel.handshake(unset, SHORT));
            channel.handshake(daemon.nextHandshake(), LiveDaemon.TIMEOUT);
        }
    }

    @Test
    void aRotationWhoseAnswerWasLostCanBeRepeated() throws IOException {
        var first = daemon.nextHandshake();
        try (var channel = GuestChannel.open(daemon.connect())) {
            channel.handshake(first, LiveDaemon.TIMEOUT);
        }
        // The host does not know that it succeeded, and does the same again.
        try (var channel = GuestChannel.open(daemon.connect())) {
            channel.handshake(first.again(), LiveDaemon.TIMEOUT);
            assertThat(new GuestClient(channel, LiveDaemon.TIMEOUT).ping()).isNotNull();
            // And here it had not: the old token is still the daemon's.
            var next = Token.random(new SecureRandom());
            var second = Handshake.afterStart(daemon.token(), next);
            channel.handshake(second.again(), LiveDaemon.TIMEOUT);
            assertThat(new GuestClient(channel, LiveDaemon.TIMEOUT).ping()).isNotNull();
        }
    }

    @Test
    void garbageBeforeAHandshakeIsDropped() throws IOException {
        daemon.open().close();
        var random = new Random(7);
        for (var round = 0; round < 20; round++) {
            var socket = daemon.connect();
            var garbage = new byte[random.nextInt(100_000)];
            random.nextBytes(garbage);
            // Also the beginning of a token that is broken off.
            var half = ByteBuffer.wrap(daemon.token().reveal(), 0, random.nextInt(32));
            socket.write(ByteBuffer.wrap(garbage));
            socket.write(half);
            try (var channel = GuestChannel.open(socket)) {
                channel.handshake(daemon.nextHandshake(), LiveDaemon.TIMEOUT);
                assertThat(new GuestClient(channel, LiveDaemon.TIMEOUT).ping()).isNotNull();
            }
        }
        assertThat(daemon.log()).doesNotContain("panic");
    }

    @Test
    void aSecondHandshakeOnTheSameConnectionEndsTheOldSession() throws IOException {
        try (var channel = daemon.open()) {
            var client = new GuestClient(channel, LiveDaemon.TIMEOUT);
            var start = StartProcess.newBuilder().setId("yes");
            client.start(start.setCommand(ByteString.copyFromUtf8("yes")).build());
            try (var old = client.attach("yes", OutputStream.OUTPUT_STREAM_STDOUT, 0, true)) {
                assertThat(old.read(LiveDaemon.TIMEOUT)).isNotEmpty();
                channel.handshake(daemon.nextHandshake(), LiveDaemon.TIMEOUT);
                unreachable(() -> drain(old));
            }
            assertThat(client.list()).as("processes live on").hasSize(1);
            client.signal("yes", 9, false);
        }
    }

    private static void drain(ProcessOutput output) {
        while (output.read(LiveDaemon.TIMEOUT) != null) {
            // Until its session is found to be over.
        }
    }

    @Test
    void behindAClosedGateNothingMoves() throws Exception {
        try (var channel = daemon.open()) {
            var client = new GuestClient(channel, LiveDaemon.TIMEOUT);
            CompletableFuture<Long> answer;
            try (var gate = channel.gate()) {
                answer = CompletableFuture.supplyAsync(() -> client.ping().getUnixNanos());
                assertThat(answer.completeOnTimeout(-1L, 200, TimeUnit.MILLISECONDS).get())
                        .as("nothing is sent or read")
                        .isEqualTo(-1L);
                assertThat(gate).isNotNull();
            }
            assertThat(client.ping().getUnixNanos()).isPositive();
        }
    }

    @Test
    void hostileFramesEndTheSessionAndNeverTheDaemon() throws IOException {
        var random = new Random(11);
        for (var round = 0; round < 60; round++) {
            var socket = daemon.connect();
            var channel = GuestChannel.open(socket);
            channel.handshake(daemon.nextHandshake(), LiveDaemon.TIMEOUT);
            var bytes = new byte[12 + random.nextInt(64)];
            random.nextBytes(bytes);
            if (round % 2 == 0) {
                // A header that is nearly right, so that more than the length is looked at.
                var valid =
                        Frames.encode(1 + round, FrameType.REQUEST, true, ByteBuffer.wrap(bytes));
                valid.put(random.nextInt(12), (byte) random.nextInt(256));
                bytes = new byte[valid.remaining()];
                valid.get(bytes);
            }
            socket.write(ByteBuffer.wrap(bytes));
            channel.close();
        }
        try (var channel = daemon.open()) {
            assertThat(new GuestClient(channel, LiveDaemon.TIMEOUT).ping()).isNotNull();
        }
        assertThat(daemon.log().getBytes(UTF_8).length).isLessThan(100_000);
    }

    @Test
    void fiftyCallersShareOneChannel() throws IOException {
        try (var channel = daemon.open();
                var callers = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
            var client = new GuestClient(channel, LiveDaemon.TIMEOUT);
            client.bind(Bind.newBuilder().setMaxProcesses(100).build());
            var results =
                    java.util.stream.IntStream.range(0, 50)
                            .mapToObj(i ->
                                    CompletableFuture.supplyAsync(() -> exec(client, i), callers))
                            .toList();
            for (var i = 0; i < 50; i++) {
                assertThat(results.get(i).join()).isEqualTo(i);
            }
        }
    }

    private static int exec(GuestClient client, int code) {
        var start = StartProcess.newBuilder().setId("p" + code);
        client.start(start.setCommand(ByteString.copyFromUtf8("exit " + code)).build());
        return client.get("p" + code, LiveDaemon.TIMEOUT, true).getExitCode();
    }
}
