package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.ExitReason;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.ProcessInfo;
import dev.space.guest.protocol.ProcessState;
import dev.space.guest.protocol.StartProcess;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes through the channel, by the real daemon. */
final class ProcessesIT {

    private static final Duration TIMEOUT = LiveDaemon.TIMEOUT;

    @SuppressWarnings("NullAway.Init")
    private LiveDaemon daemon;

    @SuppressWarnings("NullAway.Init")
    private GuestChannel channel;

    @SuppressWarnings("NullAway.Init")
    private GuestClient client;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        daemon = LiveDaemon.start();
        channel = daemon.open();
        client = new GuestClient(channel, TIMEOUT);
    }

    @AfterEach
    void stop() throws IOException {
        // Not started when the test was skipped.
        if (channel != null) {
            channel.close();
            daemon.close();
        }
    }

    private static StartProcess.Builder argv(String id, String... argv) {
        var bytes = Arrays.stream(argv).map(ByteString::copyFromUtf8).toList();
        return StartProcess.newBuilder().setId(id).addAllArgv(bytes);
    }

    private static StartProcess.Builder shell(String id, String command) {
        return StartProcess.newBuilder().setId(id).setCommand(ByteString.copyFromUtf8(command));
    }

    private ProcessInfo run(StartProcess.Builder start) {
        client.start(start.build());
        return client.get(start.getId(), TIMEOUT, false);
    }

    private String output(String id, OutputStream stream) {
        try (var output = client.attach(id, stream, 0, true)) {
            var all = new ByteArrayOutputStream();
            for (var data = output.read(TIMEOUT); data != null; data = output.read(TIMEOUT)) {
                all.writeBytes(data);
            }
            return all.toString(UTF_8);
        }
    }

    @Test
    void exitCodeAndBothOutputsArrive() {
        var info = run(shell("a", "echo out; echo err >&2; exit 3"));
        assertThat(info.getState()).isEqualTo(ProcessState.PROCESS_STATE_EXITED);
        assertThat(info.getReason()).isEqualTo(ExitReason.EXIT_REASON_EXITED);
        assertThat(info.getExitCode()).isEqualTo(3);
        assertThat(output("a", OutputStream.OUTPUT_STREAM_STDOUT)).isEqualTo("out\n");
        assertThat(output("a", OutputStream.OUTPUT_STREAM_STDERR)).isEqualTo("err\n");
    }

    @Test
    void startAttachAndWaitGoInOneRoundTrip() {
        var requests =
                java.util.List.of(
                        GuestClient.startRequest(argv("p", "/bin/echo", "42").build()),
                        GuestClient.attachRequest("p", OutputStream.OUTPUT_STREAM_STDOUT, 0, true),
                        GuestClient.getRequest("p", TIMEOUT, true));
        var streams = requests.stream().map(channel::open).toList();
        assertThat(streams.get(0).reply(TIMEOUT).getProcess().getPid()).isPositive();
        var output = ProcessOutput.of(streams.get(1), TIMEOUT);
        assertThat(output.read(TIMEOUT)).isEqualTo("42\n".getBytes(UTF_8));
        assertThat(output.read(TIMEOUT)).isNull();
        assertThat(streams.get(2).reply(TIMEOUT).getProcess().getExitCode()).isZero();
        streams.forEach(GuestStream::close);
        assertThat(client.list()).as("released").isEmpty();
    }

    @Test
    void missingCommandIs127AndMissingDirectoryFailsTheStart() {
        var missing = run(argv("a", "no-such-command"));
        assertThat(missing.getReason()).isEqualTo(ExitReason.EXIT_REASON_NOT_FOUND);
        assertThat(missing.getExitCode()).isEqualTo(127);
        var nowhere = run(argv("b", "true").setCwd(ByteString.copyFromUtf8("/no/such")));
        assertThat(nowhere.getReason()).isEqualTo(ExitReason.EXIT_REASON_START_FAILED);
        assertThat(nowhere.getDetail()).contains("working directory");
        var nobody = run(argv("c", "true").setUser("no-such-user"));
        assertThat(nobody.getReason()).isEqualTo(ExitReason.EXIT_REASON_START_FAILED);
        assertThat(nobody.getDetail()).contains("no such user");
    }

    @Test
    void userDirectoryAndEnvironmentAreTheOnesAskedFor() throws IOException {
        client.bind(Bind.newBuilder().putEnv("A", "session").putEnv("B", "session").build());
        var info =
                run(
                        shell("a", "id -un; id -u; pwd; echo $A $B")
                                .setUser("nobody")
                                .setCwd(ByteString.copyFromUtf8("/usr"))
                                .putEnv("B", ByteString.copyFromUtf8("own")));
        assertThat(info.getExitCode()).isZero();
        assertThat(output("a", OutputStream.OUTPUT_STREAM_STDOUT))
                .isEqualTo("nobody\n" + LiveDaemon.uidOfNobody() + "\n/usr\nsession own\n");
    }

    @Test
    void aRetryStartsNothingTwice() {
        var start = shell("once", "echo $$; sleep 60").build();
        var first = client.start(start);
        var second = client.start(start);
        assertThat(second.getPid()).isEqualTo(first.getPid());
        assertThat(client.list()).hasSize(1);
        client.signal("once", 9, false);
        assertThat(client.start(start).getPid()).as("also after its end").isEqualTo(first.getPid());
    }

    @Test
    void aSignalReachesTheWholeTree() {
        client.start(shell("tree", "setsid sleep 1000 & (sleep 1000 & sleep 1000) & wait").build());
        awaitTasks("tree", 4);
        client.signal("tree", 15, false);
        var info = client.get("tree", TIMEOUT, false);
        assertThat(info.getReason()).isEqualTo(ExitReason.EXIT_REASON_SIGNALED);
        assertThat(info.getSignal()).isEqualTo(15);
        assertThat(info.getExitCode()).isEqualTo(143);
        // A task that was killed is counted until the kernel has taken it down.
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (client.get("tree", Duration.ZERO, false).getTasks() > 0) {
            assertThat(System.nanoTime()).as("no task survives").isLessThan(deadline);
        }
    }

    private void awaitTasks(String id, int count) {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        var group = daemon.cgroup().resolve("workload/p1/cgroup.procs");
        while (lines(group) < count) {
            assertThat(System.nanoTime()).as("tasks of " + id).isLessThan(deadline);
            client.ping();
        }
    }

    private static long lines(java.nio.file.Path file) {
        try (var lines = java.nio.file.Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void theTimeOutEndsTheTreeAndKeepsTheOutput() {
        var info = run(shell("slow", "echo before; sleep 1000").setTimeoutMillis(200));
        assertThat(info.getReason()).isEqualTo(ExitReason.EXIT_REASON_TIMED_OUT);
        assertThat(info.getExitCode()).isEqualTo(137);
        assertThat(output("slow", OutputStream.OUTPUT_STREAM_STDOUT)).isEqualTo("before\n");
    }

    @Test
    void stdinGoesThroughByOffsetUntilItsEnd() {
        client.start(argv("cat", "cat").setStdin(true).build());
        var text = ByteString.copyFromUtf8("one two ");
        assertThat(client.writeStdin("cat", 0, text, false, TIMEOUT).getOffset()).isEqualTo(8);
        var again = ByteString.copyFromUtf8("two three");
        assertThat(client.writeStdin("cat", 4, again, true, TIMEOUT).getOffset()).isEqualTo(13);
        assertThat(output("cat", OutputStream.OUTPUT_STREAM_STDOUT)).isEqualTo("one two three");
        assertThat(client.get("cat", TIMEOUT, false).getExitCode()).isZero();
        assertThat(client.writeStdin("cat", 13, text, false, TIMEOUT).getClosed()).isTrue();
    }

    @Test
    void withoutStdinAProcessReadsItsEndAtOnce() {
        assertThat(run(argv("cat", "cat")).getExitCode()).isZero();
    }

    @Test
    void bigStreamsGoBothWaysUnharmed() throws InterruptedException {
        client.start(argv("sum", "sha256sum").setStdin(true).build());
        var piece = ByteString.copyFrom(new byte[1 << 20]);
        for (var i = 0; i < 16; i++) {
            client.writeStdin("sum", (long) i << 20, piece, i == 15, TIMEOUT);
        }
        client.start(shell("zeros", "head -c 16777216 /dev/zero").build());
        var zeros = drain("zeros", 0);
        assertThat(zeros).isEqualTo(16 << 20);
        assertThat(output("sum", OutputStream.OUTPUT_STREAM_STDOUT))
                .startsWith("080acf35a507ac9849cfcba47dc2ad83e01b75663a516279c8b9d243b719643e");
    }

    private long drain(String id, long from) {
        try (var output = client.attach(id, OutputStream.OUTPUT_STREAM_STDOUT, from, true)) {
            while (output.read(TIMEOUT) != null) {
                // Only the offset counts.
            }
            return output.offset();
        }
    }

    @Test
    void outputGoesOnByOffsetOverConnectionsWithoutLossOrRepetition() throws IOException {
        client.start(
                shell("count", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo $i; done")
                        .build());
        var all = new ByteArrayOutputStream();
        var done = false;
        for (var round = 0; !done; round++) {
            try (var output =
                    client.attach("count", OutputStream.OUTPUT_STREAM_STDOUT, all.size(), true)) {
                assertThat(output.offset()).isEqualTo(all.size());
                for (var i = 0; i < 3 && !done; i++) {
                    var data = output.read(TIMEOUT);
                    done = data == null;
                    if (data != null) {
                        all.writeBytes(data);
                    }
                }
                if (!done && round < 5) {
                    // Breaks off with data and credit under way in both directions.
                    channel.close();
                    channel = daemon.open();
                    client = new GuestClient(channel, TIMEOUT);
                }
            }
        }
        var expected = new StringBuilder();
        for (var i = 1; i <= 60000; i++) {
            expected.append(i).append('\n');
        }
        assertThat(all.toString(UTF_8)).isEqualTo(expected.toString());
    }

    @Test
    void aProcessWithoutReaderWaitsWhenTheDaemonKeepsEnough() {
        client.start(shell("flood", "yes").build());
        try (var output = client.attach("flood", OutputStream.OUTPUT_STREAM_STDERR, 0, false)) {
            assertThat(output.read(TIMEOUT)).isNull();
        }
        long before = -1;
        var kept = client.get("flood", Duration.ZERO, false).getStdoutBytes();
        while (kept != before || kept < (1 << 20)) {
            before = kept;
            kept = client.get("flood", Duration.ofMillis(50), false).getStdoutBytes();
        }
        assertThat(kept).isEqualTo(1 << 20);
        client.signal("flood", 9, false);
    }

    @Test
    void backgroundChildrenLiveOnAndHoldNobodyUp() {
        var info = run(shell("bg", "echo started; sleep 1000 & exit 0"));
        assertThat(info.getReason()).isEqualTo(ExitReason.EXIT_REASON_EXITED);
        assertThat(info.getTasks()).isEqualTo(1);
        assertThat(output("bg", OutputStream.OUTPUT_STREAM_STDOUT)).isEqualTo("started\n");
        client.signal("bg", 9, false);
    }

    @Test
    void moreProcessesThanAllowedAreRefused() {
        client.bind(Bind.newBuilder().setMaxProcesses(1).build());
        client.start(argv("a", "sleep", "1000").build());
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(() -> client.start(argv("b", "true").build()))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
        client.signal("a", 9, false);
    }

    @Test
    void aFrozenWorkloadStandsStillAndThawsByItself() {
        client.start(shell("tick", "while :; do echo .; sleep 0.01; done").build());
        LiveDaemon.freeze(client);
        assertThat(client.status().getFrozen()).isTrue();
        var frozen = client.get("tick", Duration.ofMillis(100), false).getStdoutBytes();
        assertThat(client.get("tick", Duration.ofMillis(300), false).getStdoutBytes())
                .isEqualTo(frozen);
        // Two seconds without a word from the host.
        try (var output = client.attach("tick", OutputStream.OUTPUT_STREAM_STDOUT, frozen, true)) {
            assertThat(output.read(TIMEOUT)).isNotEmpty();
        }
        assertThat(client.status().getFrozen()).isFalse();
        client.signal("tick", 9, false);
    }

    @Test
    void whatIsNotThereIsNotFound() {
        assertThatExceptionOfType(SpaceException.class)
                .isThrownBy(() -> client.get("none", Duration.ZERO, false))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.PROCESS_NOT_FOUND));
    }
}
