package dev.space.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Thinning.Entry;
import dev.space.model.Thinning.Tier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class ThinningTest {

    private static final Thinning RULE = Thinning.parse("20s:10m,1m:1h,10m:1d,1h:7d");
    private static final long NOW = Duration.ofDays(20_000).toMillis();

    static LongStream seeds() {
        return LongStream.range(0, 300);
    }

    private static List<Entry> anyLife(long seed) {
        Random random = new Random(seed);
        int count = random.nextInt(400);
        long reach = 1 + (long) (Duration.ofDays(9).toMillis() * Math.pow(random.nextDouble(), 4));
        List<Long> times = random.longs(count, NOW - reach, NOW + 5_000).sorted().boxed().toList();
        return IntStream.range(0, count)
                .mapToObj(i ->
                        new Entry(
                                "s" + i,
                                times.get(i),
                                random.nextInt(3) == 0,
                                random.nextInt(20) == 0))
                .toList();
    }

    private static List<Entry> left(List<Entry> all, Set<String> gone) {
        return all.stream().filter(entry -> !gone.contains(entry.id())).toList();
    }

    private static int tier(Entry entry) {
        for (int i = 0; i < RULE.tiers().size(); i++) {
            if (NOW - entry.takenAtMillis() <= RULE.tiers().get(i).until().toMillis()) {
                return i;
            }
        }
        return -1;
    }

    private static String bucket(Entry entry) {
        Tier tier = RULE.tiers().get(tier(entry));
        return tier + "#" + Math.floorDiv(entry.takenAtMillis(), tier.every().toMillis());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void keepsOneOfEachSpanAndTheNewestAndWhatIsPinned(long seed) {
        List<Entry> all = anyLife(seed);
        List<Entry> left = left(all, RULE.removable(all, NOW));
        Set<String> spans = new HashSet<>();
        all.stream().filter(e -> tier(e) >= 0).forEach(e -> spans.add(bucket(e)));
        Set<String> spansLeft = new HashSet<>();
        left.stream().filter(e -> tier(e) >= 0).forEach(e -> spansLeft.add(bucket(e)));
        assertThat(spansLeft).isEqualTo(spans);
        assertThat(left).containsAll(all.stream().filter(Entry::kept).toList());
        if (!all.isEmpty()) {
            assertThat(left.getLast()).isEqualTo(all.getLast());
        }
        assertThat(left.stream().filter(Entry::full).reduce((a, b) -> b))
                .as("the newest with memory")
                .isEqualTo(all.stream().filter(Entry::full).reduce((a, b) -> b));
        long unpinned = left.stream().filter(e -> !e.kept()).count();
        assertThat(unpinned).as("one of each, and the two newest").isLessThan(spans.size() + 3);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aSecondTimeRemovesNothing(long seed) {
        List<Entry> all = anyLife(seed);
        List<Entry> left = left(all, RULE.removable(all, NOW));
        assertThat(RULE.removable(left, NOW)).isEmpty();
    }

    /** A week of snapshots, thinned each minute, has no longer gap than its tier's span twice. */
    @Test
    void thinnedAsItGrowsAWeekCanBeGoneBack() {
        List<Entry> there = new ArrayList<>();
        long step = Duration.ofSeconds(20).toMillis();
        long begin = NOW - Duration.ofDays(8).toMillis();
        int n = 0;
        for (long at = begin; at <= NOW; at += step) {
            there.add(new Entry("s" + n, at, n % 3 == 0, false));
            n++;
            if (n % 3 == 0) {
                Set<String> gone = RULE.removable(there, at);
                there.removeIf(entry -> gone.contains(entry.id()));
            }
        }
        assertThat(there.size()).isBetween(300, 450);
        for (int i = 1; i < there.size(); i++) {
            Entry older = there.get(i - 1);
            long every = RULE.tiers().get(Math.max(0, tier(older))).every().toMillis();
            assertThat(there.get(i).takenAtMillis() - older.takenAtMillis())
                    .isLessThanOrEqualTo(2 * every);
        }
        assertThat(NOW - there.getFirst().takenAtMillis())
                .isBetween(
                        Duration.ofDays(7).minusHours(1).toMillis(), Duration.ofDays(7).toMillis());
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aQuotaTakesTheOldestFirst(long seed) {
        List<Entry> all = anyLife(seed);
        int max = new Random(seed).nextInt(100);
        List<String> gone = Thinning.beyond(all, max);
        List<Entry> left = left(all, Set.copyOf(gone));
        assertThat(left).containsAll(all.stream().filter(Entry::kept).toList());
        assertThat(gone.size()).isLessThanOrEqualTo(Math.max(0, all.size() - max));
        assertThat(left.size() <= max || left.stream().filter(e -> !e.kept()).count() <= 2)
                .isTrue();
        int last = -1;
        for (String id : gone) {
            int at = Integer.parseInt(id.substring(1));
            assertThat(at).isGreaterThan(last);
            last = at;
        }
    }

    @Test
    void aRuleIsReadOrRefusedWithItsForm() {
        assertThat(Thinning.parse("1m:1h, 10m:1d").tiers())
                .containsExactly(
                        new Tier(Duration.ofMinutes(1), Duration.ofHours(1)),
                        new Tier(Duration.ofMinutes(10), Duration.ofDays(1)));
        for (String bad : List.of("", "1m", "1m:1h:2h", "0s:1h", "1m:1w", "1m:1h,5m:30m")) {
            assertThatThrownBy(() -> Thinning.parse(bad))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
