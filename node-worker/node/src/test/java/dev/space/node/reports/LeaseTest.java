package dev.space.node.reports;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeaseTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // wraps, as it may
    private final Lease lease = Lease.of(nanos::get);

    private void refused() {
        assertThatThrownBy(() -> lease.demand(Duration.ZERO))
                .isInstanceOfSatisfying(
                        SpaceException.class,
                        e -> Assertions.assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }

    private void granted() {
        assertThatCode(() -> lease.demand(Duration.ZERO)).doesNotThrowAnyException();
    }

    @Test
    void nothingStartsBeforeTheFirstAndAfterTheLast() {
        refused();
        lease.renewed(lease.now(), Duration.ofSeconds(15));
        granted();
        nanos.addAndGet(Duration.ofSeconds(15).toNanos() - 1);
        granted();
        nanos.incrementAndGet();
        refused();
    }

    @Test
    void itCountsFromBeforeTheQuestion() {
        long asked = lease.now();
        nanos.addAndGet(Duration.ofSeconds(20).toNanos());
        lease.renewed(asked, Duration.ofSeconds(15));
        refused();
    }

    @Test
    void anAnswerThatCameLateShortensNothing() {
        long early = lease.now();
        nanos.addAndGet(Duration.ofSeconds(5).toNanos());
        lease.renewed(lease.now(), Duration.ofSeconds(15));
        lease.renewed(early, Duration.ofSeconds(15));
        nanos.addAndGet(Duration.ofSeconds(14).toNanos());
        granted();
    }

    @Test
    void oneWhoWaitsGoesOnWithTheRenewal() throws Exception {
        var waiting = CompletableFuture.runAsync(() -> lease.demand(Duration.ofSeconds(50)));
        lease.renewed(lease.now(), Duration.ofSeconds(15));
        waiting.get(20, TimeUnit.SECONDS);
        lease.lost();
        refused();
    }

    @Test
    void aNodeWithoutAControlPlaneNeedsNone() {
        assertThatCode(() -> Lease.notNeeded().demand(Duration.ZERO)).doesNotThrowAnyException();
    }
}
