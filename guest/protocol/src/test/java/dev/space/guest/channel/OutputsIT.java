package dev.space.guest.channel;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.ProcessInfo;
import dev.space.guest.protocol.ProcessState;
import dev.space.guest.protocol.StartProcess;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the real daemon keeps of outputs that nobody reads: bounded over all processes together. */
final class OutputsIT {

    /** The daemon's bounds: of all outputs, and of each once those are reached. */
    private static final long TOTAL_MAX = 24 << 20;

    private static final long SCARCE_MAX = 64 << 10;

    /** One output may still grow by one read of a pipe while the total is just below its bound. */
    private static final long READ_MAX = 64 << 10;

    private static final int PROCESSES = 40;

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
        client = new GuestClient(channel, LiveDaemon.TIMEOUT);
    }

    @AfterEach
    void stop() throws IOException {
        // Not started when the test was skipped.
        if (channel != null) {
            channel.close();
            daemon.close();
        }
    }

    private void start(String id, String... argv) {
        var bytes = Arrays.stream(argv).map(ByteString::copyFromUtf8).toList();
        client.start(StartProcess.newBuilder().setId(id).addAllArgv(bytes).build());
    }

    /** Nothing is acknowledged, so what was taken from the processes is what is kept. */
    private long kept() {
        return client.list().stream().mapToLong(ProcessInfo::getStdoutBytes).sum();
    }

    @Test
    void processesThatNobodyReadsAreHeldBackTogether() throws IOException {
        for (var i = 0; i < PROCESSES; i++) {
            start("loud" + i, "yes");
        }
        var deadline = System.nanoTime() + LiveDaemon.TIMEOUT.multipliedBy(3).toNanos();
        while (kept() < TOTAL_MAX) {
            assertThat(System.nanoTime()).as("the bound is reached").isLessThan(deadline);
        }
        for (var i = 0; i < 200; i++) {
            client.ping();
        }
        assertThat(kept()).isLessThanOrEqualTo(TOTAL_MAX + PROCESSES * (SCARCE_MAX + READ_MAX));
        assertThat(daemon.residentBytes())
                .as("the daemon's memory, with the room its buffers grow into")
                .isLessThan(2 * TOTAL_MAX + (16 << 20));
        assertThat(client.list()).allMatch(p -> p.getState() == ProcessState.PROCESS_STATE_RUNNING);
        // A reader still gets on, as far as it likes.
        try (var output = client.attach("loud0", OutputStream.OUTPUT_STREAM_STDOUT, 0, true)) {
            while (output.offset() < 4 << 20) {
                assertThat(output.read(LiveDaemon.TIMEOUT)).isNotNull();
            }
        }
    }

    @Test
    void theOldestResultsMakeWayForNewerOnes() {
        var each = 512 << 10;
        var runs = (int) (TOTAL_MAX / each) + 12;
        for (var i = 0; i < runs; i++) {
            start("run" + i, "head", "-c", Integer.toString(each), "/dev/zero");
            var ended = client.get("run" + i, LiveDaemon.TIMEOUT, false);
            assertThat(ended.getStdoutBytes()).isEqualTo(each);
        }
        assertThat(firstKept("run0")).as("the oldest is gone").isEqualTo(each);
        assertThat(firstKept("run" + (runs - 1))).as("the newest is whole").isZero();
        var whole = IntStream.range(0, runs).filter(i -> firstKept("run" + i) == 0).count();
        assertThat(whole * each).isBetween(TOTAL_MAX / 2, TOTAL_MAX);
        assertThat(client.get("run0", LiveDaemon.TIMEOUT, false).getExitCode())
                .as("how it ended is kept")
                .isZero();
    }

    private long firstKept(String id) {
        try (var output = client.attach(id, OutputStream.OUTPUT_STREAM_STDOUT, 0, false)) {
            return output.offset();
        }
    }
}
