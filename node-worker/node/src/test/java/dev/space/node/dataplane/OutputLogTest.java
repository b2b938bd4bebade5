package dev.space.node.dataplane;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.space.model.Limits;
import dev.space.node.sandbox.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OutputLogTest {

    private static final int PIECE = 1 << 20;

    @TempDir Path directory;

    private OutputLog open() {
        return OutputLog.reopen(directory.resolve("p"), "stdout");
    }

    private static void append(OutputLog log, long offset, ByteString data) {
        try {
            log.append(offset, data);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aRepeatedPieceIsKeptOnceAndOffsetsSurviveARestart() throws Exception {
        try (OutputLog log = open()) {
            append(log, 0, ByteString.copyFromUtf8("hello "));
            append(log, 3, ByteString.copyFromUtf8("lo world"));
        }
        try (OutputLog log = open();
                OutputLog.Reader reader = log.reader(4)) {
            assertThat(log.end()).isEqualTo(11);
            assertThat(reader.next(100, Duration.ZERO).data().toStringUtf8()).isEqualTo("o world");
            append(log, 11, ByteString.copyFromUtf8("!"));
            assertThat(reader.next(100, Duration.ZERO).data().toStringUtf8()).isEqualTo("!");
        }
    }

    @Test
    void theOldestIsDroppedAndAReaderSeesTheJump() throws Exception {
        ByteString piece = ByteString.copyFrom(new byte[PIECE]);
        try (OutputLog log = open()) {
            for (int i = 0; i < 40; i++) {
                append(log, (long) i * PIECE, piece);
            }
            try (OutputLog.Reader reader = log.reader(0)) {
                long first = reader.next(100, Duration.ZERO).offset();
                assertThat(first).isPositive();
                assertThat(log.end() - first).isLessThanOrEqualTo(Limits.PROCESS_OUTPUT_BYTES_MAX);
            }
        }
    }

    @Test
    void anAttachedReaderHoldsTheWriterBackUntilItGoesAway() throws Exception {
        ByteString piece = ByteString.copyFrom(new byte[PIECE]);
        AtomicBoolean done = new AtomicBoolean();
        try (OutputLog log = open()) {
            OutputLog.Reader reader = log.reader(0);
            Thread writer =
                    Thread.ofVirtual()
                            .start(() -> {
                                for (int i = 0; i < 40; i++) {
                                    append(log, (long) i * PIECE, piece);
                                }
                                done.set(true);
                            });
            Await.until(
                    "the log is full", () -> log.end() >= Limits.PROCESS_OUTPUT_BYTES_MAX - PIECE);
            assertThat(reader.next(100, Duration.ZERO).offset()).isZero();
            assertThat(done).isFalse();
            reader.close();
            Await.until("the writer goes on", done::get);
            writer.join();
        }
    }
}
