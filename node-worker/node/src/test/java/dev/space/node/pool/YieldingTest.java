package dev.space.node.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.VmHold;
import dev.space.node.sandbox.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is made ahead stands still while a session is being started. */
final class YieldingTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final AtomicInteger freezes = new AtomicInteger();
    private final VmHold vm = new VmHold(freezes::incrementAndGet, () -> {});
    private Yielding yielding = new Yielding(SHORT, LONG);

    @AfterEach
    void end() {
        yielding.close();
    }

    private void begin(Duration quiet, Duration most) {
        yielding = new Yielding(quiet, most);
        yielding.start();
    }

    @Test
    void itIsHeldUntilTheRequestIsOverAndAMomentMore() {
        begin(SHORT, LONG);
        try (Yielding.Made _ = yielding.making(vm)) {
            assertThat(freezes).hasValue(0);
            yielding.requestBegins();
            Await.until("it is held", vm::isHeld);
            yielding.requestEnds();
            Await.until("it goes on", () -> !vm.isHeld());
            yielding.requestBegins();
            Await.until("it is held again", vm::isHeld);
        }
        assertThat(vm.isHeld()).as("what is made runs, or stops, by itself").isFalse();
        assertThat(freezes).hasValue(2);
    }

    @Test
    void oneBegunWhileARequestIsAtWorkIsHeldToo() {
        begin(SHORT, LONG);
        yielding.requestBegins();
        try (Yielding.Made _ = yielding.making(vm)) {
            Await.until("it is held", vm::isHeld);
        }
    }

    @Test
    void anEndlessRowOfRequestsHoldsItForALimitedTime() {
        begin(LONG, SHORT);
        yielding.requestBegins();
        try (Yielding.Made _ = yielding.making(vm)) {
            Await.until("it was held and goes on", () -> freezes.get() == 1 && !vm.isHeld());
            yielding.requestBegins();
            yielding.requestEnds();
            assertThat(vm.isHeld()).isFalse();
        }
        assertThat(freezes).hasValue(1);
    }

    @Test
    void nothingIsBegunBeforeItIsQuiet() throws Exception {
        begin(SHORT, LONG);
        yielding.requestBegins();
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        Thread waiting = Thread.ofVirtual().start(() -> turn.complete(turn()));
        Await.until("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        assertThat(turn).isNotDone();
        yielding.requestEnds();
        Await.until("its turn", turn::isDone);
        assertThat(turn.get()).isTrue();
    }

    @Test
    void atTheEndNobodyGetsATurn() {
        begin(LONG, LONG);
        yielding.requestBegins();
        yielding.close();
        assertThat(turn()).isFalse();
    }

    @Test
    void oneThatCannotBeHeldIsMadeAllTheSame() {
        begin(SHORT, LONG);
        AtomicInteger tries = new AtomicInteger();
        VmHold stubborn =
                new VmHold(
                        () -> {
                            tries.incrementAndGet();
                            throw new SpaceException(ErrorCode.UNAVAILABLE, "no manager");
                        },
                        () -> {});
        yielding.requestBegins();
        try (Yielding.Made _ = yielding.making(stubborn)) {
            Await.until("it was tried", () -> tries.get() == 1);
        }
        assertThat(tries).as("and given up").hasValue(1);
    }

    private boolean turn() {
        try {
            return yielding.awaitTurn();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
