package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.FilePath;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.StartProcess;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The file system, the clock and the end of a real machine, around its stops. */
final class MachineStopsIT {

    private static final Duration BOOT = Duration.ofSeconds(60);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /**
     * How long a write must be seen not to come through; only a failure is missed if it is short.
     */
    private static final Duration STANDS = Duration.ofMillis(700);

    private final Token token = Token.random(new SecureRandom());

    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @BeforeEach
    void prepare() throws IOException {
        directory = MachineFiles.prepare();
    }

    @AfterEach
    void remove() throws IOException {
        if (directory != null) {
            LiveDaemon.run("rm", "-rf", directory.toString());
        }
    }

    private GuestChannel boot(TestMachine machine) {
        var channel = GuestChannel.open(machine.agent);
        channel.handshake(Handshake.afterStart(Token.UNSET, token), BOOT);
        return channel;
    }

    /** Says "begun" at once and "written" when it could write. */
    private static ProcessOutput writer(GuestClient client, String id) {
        var command = "echo begun; echo x > /home/user/" + id + "; echo written; cat";
        client.start(
                StartProcess.newBuilder()
                        .setId(id)
                        .setCommand(ByteString.copyFromUtf8(command))
                        .setStdin(true)
                        .build());
        var output = client.attach(id, OutputStream.OUTPUT_STREAM_STDOUT, 0, true);
        assertThat(output.read(TIMEOUT)).asString(UTF_8).isEqualTo("begun\n");
        return output;
    }

    private static void awaitWritten(ProcessOutput output) {
        assertThat(output.read(TIMEOUT)).asString(UTF_8).isEqualTo("written\n");
    }

    private static void stands(ProcessOutput output) {
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(() -> output.read(STANDS))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.GUEST_UNREACHABLE));
    }

    @Test
    void aFrozenFileSystemTakesNoWriteUntilItIsThawed() throws Exception {
        try (var machine = TestMachine.start(directory, false);
                var channel = boot(machine)) {
            var client = new GuestClient(channel, TIMEOUT);
            client.freezeFileSystem(Duration.ofSeconds(10));
            try (var output = writer(client, "asked")) {
                stands(output);
                assertThat(client.ping().getUnixNanos()).as("the daemon answers").isPositive();
                client.thawFileSystem();
                awaitWritten(output);
            }
            client.freezeFileSystem(Duration.ofSeconds(2));
            try (var output = writer(client, "timed")) {
                stands(output);
                // Thawed by nobody but the daemon.
                awaitWritten(output);
            }
        }
    }

    @Test
    void aFrozenFileSystemIsThawedWhenTheHostGoesAway() throws Exception {
        try (var machine = TestMachine.start(directory, false)) {
            try (var channel = boot(machine)) {
                var client = new GuestClient(channel, TIMEOUT);
                client.freezeFileSystem(Duration.ofSeconds(2));
                writer(client, "cut").close();
            }
            try (var channel = GuestChannel.open(machine.connectAgent())) {
                channel.handshake(Handshake.reconnect(token), TIMEOUT);
                var client = new GuestClient(channel, TIMEOUT);
                var from = "begun\n".length();
                try (var output =
                        client.attach("cut", OutputStream.OUTPUT_STREAM_STDOUT, from, true)) {
                    awaitWritten(output);
                }
            }
        }
    }

    /** The host's clock, moved: as if the machine had stood still for that long. */
    private static GuestChannel later(TestMachine machine, Duration stood) throws Exception {
        return GuestChannel.open(machine.connectAgent(), () -> Instant.now().plus(stood));
    }

    private static Duration ahead(GuestChannel channel) {
        var before = System.currentTimeMillis();
        var guest =
                TimeUnit.NANOSECONDS.toMillis(
                        new GuestClient(channel, TIMEOUT).ping().getUnixNanos());
        return Duration.ofMillis(guest - before);
    }

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void theClockIsSteppedAfterALongStopAndSlewedWhenItIsNearlyRight() throws Exception {
        try (var machine = TestMachine.start(directory, false)) {
            try (var channel = boot(machine)) {
                // That one lay in the port while the machine booted: its clock is seconds old.
                channel.handshake(Handshake.reconnect(token), TIMEOUT);
                assertThat(ahead(channel)).isBetween(SECOND.negated(), SECOND);
            }
            var hours = Duration.ofHours(30);
            try (var restored = later(machine, hours)) {
                restored.handshake(Handshake.afterStart(token, token), TIMEOUT);
                assertThat(ahead(restored)).isBetween(hours.minus(SECOND), hours.plus(SECOND));
            }
            // A reconnection that finds the clock far off steps it too: slewing would not end.
            try (var back = later(machine, Duration.ZERO)) {
                back.handshake(Handshake.reconnect(token), TIMEOUT);
                assertThat(ahead(back)).isBetween(SECOND.negated(), SECOND);
            }
            // Nearly right: it must not jump, or the workload would see time gone or repeated.
            var near = Duration.ofMillis(450);
            try (var slewed = later(machine, near)) {
                slewed.handshake(Handshake.reconnect(token), TIMEOUT);
                assertThat(ahead(slewed)).isLessThan(near.dividedBy(2));
            }
            try (var stepped = later(machine, near)) {
                stepped.handshake(Handshake.afterStart(token, token), TIMEOUT);
                assertThat(ahead(stepped)).isGreaterThan(near.dividedBy(2));
            }
        }
    }

    @Test
    void powerOffEndsTheMachineWithItsFilesOnDisk() throws Exception {
        try (var machine = TestMachine.start(directory, false);
                var channel = boot(machine)) {
            write(channel, "/home/user/kept", "before the end");
            new GuestClient(channel, TIMEOUT).powerOff();
            assertThat(machine.awaitEnd(TIMEOUT)).as("exit code of the VMM").isZero();
        }
        try (var machine = TestMachine.start(directory, false);
                var channel = boot(machine)) {
            assertThat(content(channel, "/home/user/kept")).isEqualTo("before the end");
        }
    }

    /** What a checkpoint asks for first, so that its disk is whole without its memory. */
    @Test
    void syncPutsWrittenFilesOnDiskOfAMachineThatDies() throws Exception {
        try (var machine = TestMachine.start(directory, false);
                var channel = boot(machine)) {
            write(channel, "/home/user/synced", "on disk");
            new GuestClient(channel, TIMEOUT).sync();
        } // killed here
        try (var machine = TestMachine.start(directory, false);
                var channel = boot(machine)) {
            assertThat(content(channel, "/home/user/synced")).isEqualTo("on disk");
        }
    }

    private static void write(GuestChannel channel, String path, String text) {
        var file = FilePath.newBuilder().setPath(ByteString.copyFromUtf8(path)).setUser("user");
        try (var writer = new GuestFiles(channel, TIMEOUT).write(file.build(), 0, false)) {
            writer.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
            var _ = writer.commit();
        }
    }

    private static String content(GuestChannel channel, String path) {
        var client = new GuestClient(channel, TIMEOUT);
        client.start(
                StartProcess.newBuilder()
                        .setId("cat")
                        .addArgv(ByteString.copyFromUtf8("cat"))
                        .addArgv(ByteString.copyFromUtf8(path))
                        .build());
        try (var output = client.attach("cat", OutputStream.OUTPUT_STREAM_STDOUT, 0, true)) {
            var data = output.read(TIMEOUT);
            return data == null ? "" : new String(data, UTF_8);
        }
    }
}
