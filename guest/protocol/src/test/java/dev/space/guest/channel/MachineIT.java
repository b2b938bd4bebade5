package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.ExitReason;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.ProcessInfo;
import dev.space.guest.protocol.StartProcess;
import dev.space.model.SpaceException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The daemon as /init of a real machine under emulation: boot, protection, snapshot and restore.
 */
final class MachineIT {

    private static final Duration BOOT = Duration.ofSeconds(60);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final SecureRandom random = new SecureRandom();

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

    private static String run(GuestClient client, String id, String command, String user) {
        var start = StartProcess.newBuilder().setId(id).setUser(user);
        client.start(start.setCommand(ByteString.copyFromUtf8(command)).build());
        try (var output = client.attach(id, OutputStream.OUTPUT_STREAM_STDOUT, 0, true)) {
            var all = new ByteArrayOutputStream();
            for (var data = output.read(TIMEOUT); data != null; data = output.read(TIMEOUT)) {
                all.writeBytes(data);
            }
            return all.toString(UTF_8);
        }
    }

    private static ProcessInfo end(GuestClient client, String id) {
        return client.get(id, TIMEOUT, true);
    }

    @Test
    void bootsAndProtectsItself() throws Exception {
        try (var machine = TestMachine.start(directory, false);
                var channel = GuestChannel.open(machine.agent)) {
            channel.handshake(Handshake.afterStart(Token.UNSET, Token.random(random)), BOOT);
            var client = new GuestClient(channel, TIMEOUT);
            client.bind(Bind.newBuilder().setHostname("box-1").setDefaultUser("user").build());
            assertThat(client.status().getBootWarningsList()).isEmpty();
            assertThat(client.status().getDiskTotalBytes()).as("grown").isGreaterThan(400L << 20);
            assertThat(run(client, "a", "hostname; id -un; pwd", ""))
                    .isEqualTo("box-1\nuser\n/home/user\n");
            assertThat(run(client, "b", "ip -4 addr show eth0; cat /etc/resolv.conf", ""))
                    .contains("10.200.0.2/30", "nameserver 10.200.0.1");
            rootCannotReachTheDaemon(client);
            memoryThatRunsOutIsSaid(client);
            answersWhileEverythingBurns(client);
        }
    }

    private static void rootCannotReachTheDaemon(GuestClient client) {
        var attack = "cat /proc/1/maps; cat /proc/1/environ; cat /dev/vport*; kill -9 1; id -u";
        assertThat(run(client, "attack", attack, "root")).isEqualTo("0\n");
        assertThat(client.ping().getVersion()).isNotEmpty();
    }

    private static void memoryThatRunsOutIsSaid(GuestClient client) {
        var start = StartProcess.newBuilder().setId("oom");
        client.start(start.setCommand(ByteString.copyFromUtf8("tail /dev/zero")).build());
        var info = client.get("oom", Duration.ofSeconds(60), true);
        assertThat(info.getReason()).isEqualTo(ExitReason.EXIT_REASON_OUT_OF_MEMORY);
        assertThat(info.getExitCode()).isEqualTo(137);
    }

    private static void answersWhileEverythingBurns(GuestClient client) {
        for (var i = 0; i < 4; i++) {
            var start = StartProcess.newBuilder().setId("burn" + i);
            client.start(start.setCommand(ByteString.copyFromUtf8("while :; do :; done")).build());
        }
        for (var i = 0; i < 20; i++) {
            client.ping();
        }
        for (var i = 0; i < 4; i++) {
            client.signal("burn" + i, 9, false);
            assertThat(end(client, "burn" + i).getSignal()).isEqualTo(9);
        }
    }

    @Test
    void goesOnFromASnapshotWithTheRightClockAndItsOwnRandomness() throws Exception {
        var token = Token.random(random);
        long seen;
        try (var machine = TestMachine.start(directory, false);
                var channel = GuestChannel.open(machine.agent)) {
            channel.handshake(Handshake.afterStart(Token.UNSET, token), BOOT);
            var client = new GuestClient(channel, TIMEOUT);
            seen = startCounter(client);
            LiveDaemon.freeze(client);
            try (var gate = channel.gate()) {
                machine.execute("{'execute':'stop'}");
                machine.migrate("migrate", directory.resolve("state"));
                LiveDaemon.run("sh", "-c", "cp $0/ram $0/ram.s; cp $0/disk $0/disk.s", dir());
                assertThat(gate).isNotNull();
            }
        }
        var seeds = new HashSet<String>();
        for (var round = 0; round < 3; round++) {
            LiveDaemon.run("sh", "-c", "cp $0/ram.s $0/ram; cp $0/disk.s $0/disk", dir());
            seeds.add(restoreOnce(token, seen));
        }
        assertThat(seeds).as("three restores of one memory").hasSize(3);
    }

    private String dir() {
        return directory.toString();
    }

    /** A process that counts; answers how many bytes of its output were read. */
    private static long startCounter(GuestClient client) {
        var start = StartProcess.newBuilder().setId("count");
        var loop = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done";
        client.start(start.setCommand(ByteString.copyFromUtf8(loop)).build());
        try (var output = client.attach("count", OutputStream.OUTPUT_STREAM_STDOUT, 0, true)) {
            while (output.offset() < 10) {
                assertThat(output.read(TIMEOUT)).isNotNull();
            }
            return output.offset();
        }
    }

    private String restoreOnce(Token token, long seen) throws Exception {
        try (var machine = TestMachine.start(directory, true);
                var channel = GuestChannel.open(machine.agent)) {
            machine.migrate("migrate-incoming", directory.resolve("state"));
            machine.execute("{'execute':'cont'}");
            var next = Token.random(random);
            var pong =
                    channel.handshake(
                                    Handshake.afterStart(token, next),
                                    GuestClient.pingRequest(),
                                    TIMEOUT)
                            .getPong();
            var late = System.currentTimeMillis() - pong.getUnixNanos() / 1_000_000;
            assertThat(late).as("milliseconds behind").isBetween(-1000L, 5000L);
            var client = new GuestClient(channel, TIMEOUT);
            assertThat(client.status().getFrozen()).as("before it has a name").isTrue();
            client.bind(Bind.newBuilder().setHostname("box-2").setForked(true).build());
            assertThat(client.status().getFrozen()).isFalse();
            counterGoesOn(client, seen);
            var seed = run(client, "seed", "head -c 16 /dev/urandom | md5sum", "");
            assertThatExceptionOfType(SpaceException.class)
                    .as("the snapshot's token is of no use any more")
                    .isThrownBy(() ->
                            channel.handshake(Handshake.reconnect(token), Duration.ofSeconds(1)));
            return seed;
        }
    }

    private static void counterGoesOn(GuestClient client, long seen) {
        var text = new ByteArrayOutputStream();
        try (var output = client.attach("count", OutputStream.OUTPUT_STREAM_STDOUT, seen, true)) {
            assertThat(output.offset()).isEqualTo(seen);
            while (text.size() < 60) {
                text.writeBytes(Objects.requireNonNull(output.read(TIMEOUT)));
            }
        }
        var lines = text.toString(UTF_8).strip().lines().skip(1).map(Integer::parseInt).toList();
        for (var i = 1; i < lines.size() - 1; i++) {
            assertThat(lines.get(i)).isEqualTo(lines.get(i - 1) + 1);
        }
    }
}
