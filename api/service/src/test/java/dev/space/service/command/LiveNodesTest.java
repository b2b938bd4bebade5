package dev.space.service.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

final class LiveNodesTest {

    private static final Duration LONG = Duration.ofMinutes(1);
    private final AtomicInteger asked = new AtomicInteger();

    private LiveNodes nodes(Duration waitMax, Predicate<Integer> aliveAt) {
        return new LiveNodes(_ -> aliveAt.test(asked.incrementAndGet()), waitMax);
    }

    @Test
    void aNodeThatComesIsWaitedForAndThenTrustedForAWhile() {
        LiveNodes nodes = nodes(LONG, time -> time >= 3);
        nodes.await("one");
        assertThat(asked).hasValue(3);
        nodes.await("one");
        assertThat(asked).hasValue(3);
        nodes.await("other");
        assertThat(asked).hasValue(4);
    }

    @Test
    void noneIsWaitedForNoLongerThanTheBound() {
        LiveNodes nodes = nodes(Duration.ofMillis(1), _ -> false);
        nodes.await("one");
        assertThat(asked.get()).isBetween(1, 3);
        nodes.await("one");
        assertThat(asked.get()).isBetween(2, 6);
    }

    @Test
    void aDatabaseThatIsAwayHoldsNobodyUp() {
        LiveNodes nodes =
                nodes(
                        LONG,
                        _ -> {
                            throw new SpaceException(ErrorCode.UNAVAILABLE, "away");
                        });
        nodes.await("one");
        assertThat(asked).hasValue(1);
    }

    @Test
    void anInterruptEndsTheWait() {
        LiveNodes nodes = nodes(LONG, _ -> false);
        Thread.currentThread().interrupt();
        nodes.await("one");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(asked).hasValue(1);
    }
}
