package dev.space.node.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Size;
import dev.space.node.pool.PoolDemand.Room;
import dev.space.node.sandbox.MemoryBudget;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rule by which the pool's size follows the demand, by a hand clock. */
final class PoolDemandTest {

    private static final PoolDemand.Key PREPARED = new PoolDemand.Key("p", Size.XS);
    private static final PoolDemand.Key OTHER = new PoolDemand.Key("o", Size.SMALL);
    private static final Room ROOM = new Room(1L << 50, 1000);

    /** Any time may be its beginning, a negative one too. */
    private long now = -5_000_000_000_000L;

    private final PoolDemand demand = new PoolDemand(() -> now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private void created(PoolDemand.Key key, int times) {
        for (int i = 0; i < times; i++) {
            demand.created(key);
        }
    }

    private Map<PoolDemand.Key, Integer> targets() {
        return demand.targets(List.of(PREPARED), ROOM);
    }

    private int target(PoolDemand.Key key) {
        return targets().getOrDefault(key, 0);
    }

    @Test
    void withoutDemandThereIsOneOfWhatIsPrepared() {
        assertThat(targets()).containsExactly(Map.entry(PREPARED, 1));
        pass(Duration.ofDays(30));
        assertThat(targets()).containsExactly(Map.entry(PREPARED, 1));
    }

    @Test
    void itGrowsAtOnceAndFallsByOneAMinute() {
        created(PREPARED, 5);
        pass(Duration.ofSeconds(15));
        created(PREPARED, 3);
        assertThat(target(PREPARED)).as("half a minute over a border").isEqualTo(8);
        for (int second = 0; second < 550; second += 5) {
            pass(Duration.ofSeconds(5));
            assertThat(target(PREPARED)).as("after %d s", second).isEqualTo(8);
        }
        int before = 8;
        for (int minute = 0; minute < 9; minute++) {
            pass(Duration.ofMinutes(1));
            int after = target(PREPARED);
            assertThat(after).isBetween(before - 1, before);
            assertThat(target(PREPARED)).as("asked again").isEqualTo(after);
            before = after;
        }
        assertThat(before).isEqualTo(1);
    }

    /** A row that is slower than the spans counts as what comes within two of them. */
    @Test
    void aSteadyRowAsksForWhatHalfAMinuteTakes() {
        for (int i = 0; i < 600; i++) {
            created(PREPARED, 1);
            pass(Duration.ofSeconds(3));
            assertThat(target(PREPARED)).isLessThanOrEqualTo(11);
        }
        assertThat(target(PREPARED)).isBetween(9, 11);
    }

    @Test
    void wavesEndNothingBetweenTwo() {
        created(PREPARED, 8);
        assertThat(target(PREPARED)).isEqualTo(8);
        for (int wave = 0; wave < 20; wave++) {
            for (int minute = 0; minute < 8; minute++) {
                pass(Duration.ofMinutes(1));
                assertThat(target(PREPARED)).as("wave %d", wave).isEqualTo(8);
            }
            created(PREPARED, 8);
        }
    }

    @Test
    void whatIsNotPreparedComesWithTheDemandAndGoesWithIt() {
        created(OTHER, 2);
        assertThat(targets()).containsEntry(OTHER, 2).containsEntry(PREPARED, 1);
        for (int minute = 0; minute < 14; minute++) {
            pass(Duration.ofMinutes(1));
            var _ = targets();
        }
        assertThat(targets()).doesNotContainKey(OTHER).containsEntry(PREPARED, 1);
    }

    @Test
    void theLargestGetsLessWhereThereIsNotRoomForAll() {
        created(PREPARED, 20);
        created(OTHER, 3);
        long xs = MemoryBudget.bytes(Size.XS);
        long small = MemoryBudget.bytes(Size.SMALL);
        Map<PoolDemand.Key, Integer> tight =
                demand.targets(List.of(PREPARED), new Room(4 * xs + 3 * small, 100));
        assertThat(tight.getOrDefault(PREPARED, 0) * xs + tight.getOrDefault(OTHER, 0) * small)
                .isLessThanOrEqualTo(4 * xs + 3 * small);
        assertThat(tight.values()).allSatisfy(each -> assertThat(each).isPositive());
        assertThat(
                        demand.targets(List.of(PREPARED), new Room(1L << 50, 6)).values().stream()
                                .mapToInt(Integer::intValue)
                                .sum())
                .isEqualTo(6);
        assertThat(demand.targets(List.of(PREPARED), new Room(0, 100)).values()).containsOnly(0);
        assertThat(targets()).as("with room again").containsEntry(PREPARED, 20);
    }

    @Test
    void itIsBoundedWhateverComes() {
        Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            demand.created(new PoolDemand.Key("t" + random.nextInt(2000), Size.XS));
            created(PREPARED, 1);
            pass(Duration.ofMillis(random.nextInt(200)));
        }
        Map<PoolDemand.Key, Integer> targets = targets();
        assertThat(targets).hasSizeLessThanOrEqualTo(257);
        assertThat(targets.values()).allSatisfy(each -> assertThat(each).isBetween(1, 64));
        pass(Duration.ofHours(3));
        for (int minute = 0; minute < 70; minute++) {
            var _ = targets();
            pass(Duration.ofMinutes(1));
        }
        assertThat(targets()).containsExactly(Map.entry(PREPARED, 1));
    }
}
