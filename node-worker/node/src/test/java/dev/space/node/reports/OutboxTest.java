package dev.space.node.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.VmExited;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OutboxTest {

    private static final long ROOM = 1 << 20;

    @TempDir Path directory;

    private Outbox open(long bytesMax) {
        return new Outbox(directory, InstantSource.system(), bytesMax);
    }

    private static Report.Builder exit() {
        return Report.newBuilder().setVmExited(VmExited.newBuilder().setReason("KILLED"));
    }

    private static Report.Builder audit(int n) {
        return Report.newBuilder()
                .setAudit(AuditRecord.newBuilder().setAction("exec").setObject("p" + n));
    }

    private static List<Long> sequences(Outbox outbox) throws InterruptedException {
        return outbox.next(1000, Duration.ZERO).stream().map(Report::getSequence).toList();
    }

    @Test
    void keepsWhatWasNotAcknowledgedOverRestarts() throws Exception {
        try (Outbox outbox = open(ROOM)) {
            outbox.add(exit(), true);
            outbox.add(audit(1), false);
            outbox.add(exit(), true);
            outbox.acknowledge(1);
        }
        try (Outbox outbox = open(ROOM)) {
            assertThat(sequences(outbox)).containsExactly(2L, 3L);
            outbox.add(exit(), true);
            assertThat(sequences(outbox)).containsExactly(2L, 3L, 4L);
            outbox.acknowledge(4);
        }
        try (Outbox outbox = open(ROOM)) {
            assertThat(sequences(outbox)).isEmpty();
            outbox.add(exit(), true);
            assertThat(sequences(outbox)).as("the sequence never goes back").containsExactly(5L);
        }
    }

    @Test
    void recordsWaitForOthersUntilThereAreEnough() throws Exception {
        try (Outbox outbox = open(ROOM)) {
            outbox.add(audit(1), false);
            long begin = System.nanoTime();
            assertThat(outbox.next(3, Duration.ofMillis(200))).hasSize(1);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(SOON);
            outbox.add(audit(2), false);
            outbox.add(audit(3), false);
            assertThat(nextSoon(outbox, 3)).hasSize(3);
        }
    }

    @Test
    void aVmsEndWaitsForNothing() throws Exception {
        try (Outbox outbox = open(ROOM)) {
            outbox.add(audit(1), false);
            Thread adding = Thread.ofVirtual().start(() -> outbox.add(exit(), true));
            assertThat(nextSoon(outbox, 1000)).as("with what came before it").hasSize(2);
            adding.join();
        }
    }

    private static final Duration SOON = Duration.ofMillis(150);

    /** Would wait for an hour if what is there were not enough. */
    private static List<Report> nextSoon(Outbox outbox, int max) {
        return assertTimeoutPreemptively(
                Duration.ofSeconds(30), () -> outbox.next(max, Duration.ofHours(1)));
    }

    @Test
    void dropsATornTail() throws Exception {
        Path segment = directory.resolve("1.reports");
        try (Outbox outbox = open(ROOM)) {
            outbox.add(exit(), true);
        }
        Files.write(segment, new byte[] {100, 1, 2}, StandardOpenOption.APPEND);
        try (Outbox outbox = open(ROOM)) {
            assertThat(sequences(outbox)).containsExactly(1L);
        }
    }

    @Test
    void aFullOutboxDropsTheOldestRecordsButNoExit() throws Exception {
        try (Outbox outbox = open(400)) {
            outbox.add(exit(), true);
            for (int i = 0; i < 100; i++) {
                outbox.add(audit(i), false);
            }
            assertThat(outbox.dropped()).isPositive();
            List<Long> left = sequences(outbox);
            assertThat(left.getFirst()).isEqualTo(1L);
            assertThat(left.getLast()).isEqualTo(101L);
        }
    }
}
