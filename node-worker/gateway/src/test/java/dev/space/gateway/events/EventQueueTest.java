package dev.space.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class EventQueueTest {

    private static final int SEEDS = 500;
    private static final int CAPACITY = 8;

    private static Event.Builder record(int number) {
        return Event.newBuilder().setAudit(Audit.newBuilder().setPort(number));
    }

    private static EventQueue filled(int records) {
        EventQueue queue = new EventQueue("i", CAPACITY);
        for (int i = 1; i <= records; i++) {
            queue.add(record(i));
        }
        return queue;
    }

    /** Everything after a number, as one reader gets it. */
    private static List<Event> read(EventQueue queue, long from) {
        List<Event> events = new ArrayList<>();
        long at = from;
        for (Event e = queue.after(at); e != null; e = queue.after(at)) {
            events.add(e);
            at = e.getSequence();
        }
        return events;
    }

    @Test
    void recordsComeInOrderAndOnce() {
        EventQueue queue = filled(3);
        assertThat(read(queue, 0).stream().map(e -> e.getAudit().getPort()))
                .containsExactly(1, 2, 3);
        assertThat(read(queue, 3)).isEmpty();
        assertThat(read(queue, 9)).as("a number that was never given").isEmpty();
    }

    @Test
    void theOldestGoAndTheGapIsTold() {
        EventQueue queue = filled(CAPACITY + 5);
        List<Event> events = read(queue, queue.acknowledged());
        assertThat(events.getFirst().getGap().getRecords()).isEqualTo(5);
        assertThat(events.get(1).getSequence()).isEqualTo(6);
        assertThat(events).hasSize(CAPACITY + 1);
        assertThat(queue.dropped()).isEqualTo(5);
        assertThat(queue.size()).isEqualTo(CAPACITY);
    }

    @Test
    void whatWasAcknowledgedIsNoGap() {
        EventQueue queue = filled(6);
        queue.acknowledge(4);
        assertThat(queue.size()).isEqualTo(2);
        assertThat(read(queue, queue.acknowledged()).getFirst().getSequence()).isEqualTo(5);
        queue.acknowledge(1);
        assertThat(queue.acknowledged()).as("an old acknowledgement").isEqualTo(4);
        queue.acknowledge(Long.MAX_VALUE);
        assertThat(queue.size()).isZero();
        queue.add(record(7));
        assertThat(read(queue, queue.acknowledged()).getFirst().getSequence()).isEqualTo(7);
    }

    @Test
    void aReaderIsWoken() {
        EventQueue queue = filled(0);
        AtomicInteger woken = new AtomicInteger();
        queue.wakes(woken::incrementAndGet);
        queue.add(record(1));
        assertThat(woken).hasValue(1);
    }

    /** Whatever happens in whatever order: read records and told gaps are all there were. */
    @Test
    void nothingIsLostWithoutAWord() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            EventQueue queue = new EventQueue("i", CAPACITY);
            long added = 0;
            long at = 0;
            long told = 0;
            for (int step = 0; step < 200; step++) {
                switch (random.nextInt(4)) {
                    case 0, 1 -> queue.add(record((int) ++added));
                    case 2 -> {
                        Event e = queue.after(at);
                        if (e != null) {
                            told += e.hasGap() ? e.getGap().getRecords() : 1;
                            at = e.getSequence();
                        }
                    }
                    default -> queue.acknowledge(at);
                }
                assertThat(told).as("seed %s step %s", seed, step).isEqualTo(at);
                assertThat(queue.size()).isLessThanOrEqualTo(CAPACITY);
            }
            for (Event e : read(queue, at)) {
                told += e.hasGap() ? e.getGap().getRecords() : 1;
            }
            assertThat(told).as("seed %s", seed).isEqualTo(added);
        }
    }
}
