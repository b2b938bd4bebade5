package dev.space.service.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class WorkflowsAheadTest {
    private final List<SessionId> started = new ArrayList<>();
    private final List<SessionId> ended = new ArrayList<>();
    private boolean down;
    private long now;

    private WorkflowsAhead ahead(int wanted) {
        return new WorkflowsAhead(
                id -> {
                    if (down) {
                        throw new IllegalStateException("no server");
                    }
                    started.add(id);
                },
                ended::add,
                new IdSource(),
                () -> now,
                wanted);
    }

    private void quiet() {
        now += WorkflowsAhead.QUIET.toNanos();
    }

    @Test
    void anIdIsGivenOnceOldestFirst() {
        WorkflowsAhead ahead = ahead(2);
        for (int i = 0; i < 5; i++) {
            assertThat(ahead.startOne()).isTrue();
        }
        assertThat(started).hasSize(2);
        assertThat(List.of(ahead.take(), ahead.take())).isEqualTo(started);
        assertThat(ahead.take()).isNotIn(started);
    }

    @Test
    void nothingIsStartedRightAfterACreation() {
        WorkflowsAhead ahead = ahead(2);
        var _ = ahead.take();
        assertThat(ahead.startOne()).isTrue();
        assertThat(started).isEmpty();
        quiet();
        assertThat(ahead.startOne()).isTrue();
        assertThat(started).hasSize(1);
    }

    @Test
    void oneThatGrewOldIsNotGivenAndIsReplaced() {
        WorkflowsAhead ahead = ahead(1);
        assertThat(ahead.startOne()).isTrue();
        now += WorkflowsAhead.USABLE.toNanos();
        assertThat(ahead.take()).isNotIn(started);
        quiet();
        assertThat(ahead.startOne()).isTrue();
        assertThat(started).hasSize(2);
        assertThat(ahead.take()).isEqualTo(started.getLast());
    }

    @Test
    void aServerThatIsDownLeavesNewIds() {
        WorkflowsAhead ahead = ahead(1);
        down = true;
        assertThat(ahead.startOne()).isFalse();
        SessionId id = ahead.take();
        down = false;
        now += Duration.ofSeconds(10).toNanos();
        assertThat(ahead.startOne()).isTrue();
        assertThat(started).hasSize(1).doesNotContain(id);
    }

    @Test
    void closingEndsWhatWaitsAndWhatWasUnusedIsEnded() throws InterruptedException {
        CountDownLatch filled = new CountDownLatch(3);
        CountDownLatch gone = new CountDownLatch(1);
        List<SessionId> over = Collections.synchronizedList(new ArrayList<>());
        WorkflowsAhead ahead =
                new WorkflowsAhead(
                        _ -> filled.countDown(),
                        id -> {
                            over.add(id);
                            gone.countDown();
                        },
                        new IdSource(),
                        System::nanoTime,
                        3);
        ahead.open();
        assertThat(filled.await(20, TimeUnit.SECONDS)).isTrue();
        SessionId repeated = ahead.take();
        ahead.unused(repeated);
        assertThat(gone.await(20, TimeUnit.SECONDS)).isTrue();
        ahead.close();
        assertThat(over).contains(repeated).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(3);
    }

    @Test
    void theNumberHasBounds() {
        assertThatThrownBy(() -> ahead(-1)).hasMessageContaining("workflows-ahead");
        assertThatThrownBy(() -> ahead(WorkflowsAhead.MAX + 1)).hasMessageContaining("0 to 64");
        assertThat(ahead(0).startOne()).isTrue();
        assertThat(started).isEmpty();
    }
}
