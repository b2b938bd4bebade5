package dev.space.node.dataplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.Guest;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.ProcessStart;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests that name the same process. */
@Timeout(60)
class ProcessTableTest {

    private static final ByteString ONE = ByteString.copyFromUtf8("one");
    private static final ByteString OTHER = ByteString.copyFromUtf8("other");

    @TempDir Path directory;

    private final AtomicInteger starts = new AtomicInteger();

    private ProcessTable table(Supplier<GuestProcess> starting) {
        Guest guest =
                (Guest)
                        Proxy.newProxyInstance(
                                Guest.class.getClassLoader(),
                                new Class<?>[] {Guest.class},
                                (_, method, _) -> {
                                    if (method.getName().equals("start")) {
                                        starts.incrementAndGet();
                                        return starting.get();
                                    }
                                    return method.getName().equals("processes") ? List.of() : null;
                                });
        return ProcessTable.open(directory, guest);
    }

    private static GuestProcess running() {
        return new GuestProcess("p", 7, true, 0, 0, "", "", 1, 0, 0, 0);
    }

    private static ProcessStart start() {
        return new ProcessStart(
                "p",
                List.of(ByteString.copyFromUtf8("true")),
                ByteString.EMPTY,
                Map.of(),
                ByteString.EMPTY,
                "",
                0,
                false);
    }

    @Test
    void theSameRequestFindsTheSameProcessAndAnotherOneIsRefused() {
        try (ProcessTable table = table(ProcessTableTest::running)) {
            SandboxProcess first = table.start(start(), ONE);
            assertThat(table.start(start(), ONE)).isSameAs(first);
            assertThatThrownBy(() -> table.start(start(), OTHER))
                    .isInstanceOfSatisfying(
                            SpaceException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.IDEMPOTENCY_KEY_REUSED));
            assertThat(starts).hasValue(1);
        }
    }

    @Test
    void whoWaitsForAProcessLearnsThatItsSandboxEnded() throws Exception {
        CompletableFuture<Boolean> waits;
        try (ProcessTable table = table(ProcessTableTest::running)) {
            SandboxProcess process = table.start(start(), ONE);
            waits =
                    CompletableFuture.supplyAsync(() -> {
                        try {
                            return process.await(Duration.ofMinutes(10));
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    });
        }
        assertThatThrownBy(() -> waits.get(10, TimeUnit.SECONDS))
                .hasCauseInstanceOf(SpaceException.class)
                .cause()
                .satisfies(e ->
                        assertThat(((SpaceException) e).code()).isEqualTo(ErrorCode.PROCESS_LOST));
    }

    @Test
    void anotherRequestIsRefusedAfterARestartToo() {
        Guest knows =
                (Guest)
                        Proxy.newProxyInstance(
                                Guest.class.getClassLoader(),
                                new Class<?>[] {Guest.class},
                                (_, method, _) ->
                                        switch (method.getName()) {
                                            case "processes" -> List.of(running());
                                            case "attach" -> running();
                                            default -> null;
                                        });
        try (ProcessTable table = table(ProcessTableTest::running)) {
            table.start(start(), ONE);
            table.flush();
        }
        try (ProcessTable again = ProcessTable.open(directory, knows)) {
            assertThat(again.start(start(), ONE).id()).isEqualTo("p");
            assertThatThrownBy(() -> again.start(start(), OTHER))
                    .hasMessageContaining("another request");
        }
    }

    private static Guest knowing(GuestProcess process) {
        return (Guest)
                Proxy.newProxyInstance(
                        Guest.class.getClassLoader(),
                        new Class<?>[] {Guest.class},
                        (_, method, _) ->
                                switch (method.getName()) {
                                    case "processes" -> List.of(process);
                                    case "attach", "start" -> process;
                                    default -> null;
                                });
    }

    @Test
    void aReaderOfAnotherPastIsToldSo() {
        Path processes = directory.resolve("processes");
        String before;
        try (ProcessTable table = ProcessTable.open(processes, knowing(running()))) {
            SandboxProcess process = table.require("p");
            before = process.life();
            process.output(false, 0, ByteString.copyFromUtf8("12345"));
            process.demandLife(before, false, 5);
            process.begin(before); // writes its record
        }
        try (ProcessTable adopted = ProcessTable.adopt(processes, knowing(running()))) {
            assertThat(adopted.require("p").life()).isEqualTo(before);
        }
        // As after a rollback: it goes on from its fifth byte, whatever else was read of it.
        try (ProcessTable back = ProcessTable.open(processes, knowing(running()))) {
            SandboxProcess process = back.require("p", before);
            assertThat(process.life()).isNotEqualTo(before);
            process.output(false, 5, ByteString.copyFromUtf8("abcdef"));
            process.demandLife(before, false, 5);
            process.demandLife(process.life(), false, 11);
            process.demandLife("", false, 11);
            lost(() -> process.demandLife(before, false, 6));
            lost(() -> back.require("gone", before));
        }
    }

    private static void lost(ThrowingCallable read) {
        assertThatThrownBy(read)
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.PROCESS_LOST));
    }

    @Test
    void whoeverJoinsAStartThatFailsLearnsSoAtOnce() throws Exception {
        CountDownLatch inGuest = new CountDownLatch(1);
        CountDownLatch refuse = new CountDownLatch(1);
        Supplier<GuestProcess> refusing =
                () -> {
                    inGuest.countDown();
                    awaitQuietly(refuse);
                    throw new SpaceException(ErrorCode.LIMIT_EXCEEDED, "no room for a process");
                };
        try (ProcessTable table = table(refusing)) {
            var first = CompletableFuture.supplyAsync(() -> table.start(start(), ONE));
            assertThat(inGuest.await(20, TimeUnit.SECONDS)).isTrue();
            SandboxProcess joined = table.require("p");
            var second = CompletableFuture.supplyAsync(() -> table.start(start(), ONE));
            refuse.countDown();
            for (var each : List.of(first, second)) {
                assertThatThrownBy(each::join)
                        .cause()
                        .isInstanceOfSatisfying(
                                SpaceException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.LIMIT_EXCEEDED));
            }
            assertThatThrownBy(() -> joined.await(Duration.ofSeconds(20)))
                    .isInstanceOf(SpaceException.class);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
