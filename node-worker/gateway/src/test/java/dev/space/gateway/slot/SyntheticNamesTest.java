package dev.space.gateway.slot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.egress.Ipv4;
import dev.space.model.egress.SpecialRanges;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class SyntheticNamesTest {

    @Test
    void eachNameHasAnAddressOfItsOwnUntilThereIsNoRoom() {
        SyntheticNames names = new SyntheticNames();
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < SyntheticNames.NAMES_MAX; i++) {
            int address = names.give("n" + i + ".example").orElseThrow();
            assertThat(given.add(address)).isTrue();
            assertThat(SpecialRanges.SYNTHETIC.contains(address)).isTrue();
            assertThat(address & 255).isNotIn(0, 255);
            assertThat(names.name(address)).contains("n" + i + ".example");
        }
        assertThat(names.give("one-more.example")).isEmpty();
        assertThat(names.give("n5.example")).as("known ones stay").isPresent();
        assertThat(names.table()).hasSize(SyntheticNames.NAMES_MAX);
    }

    @Test
    void anAddressFollowsFromItsNameAndAKeptOneWins() {
        SyntheticNames one = new SyntheticNames();
        SyntheticNames other = new SyntheticNames();
        int address = one.give("a.example").orElseThrow();
        assertThat(other.give("b.example")).isPresent();
        assertThat(other.give("a.example")).hasValue(address);

        SyntheticNames kept = new SyntheticNames();
        int elsewhere = Ipv4.parse("198.19.7.7");
        kept.restore(Map.of("a.example", elsewhere));
        assertThat(kept.give("a.example")).hasValue(elsewhere);
        kept.restore(Map.of("a.example", address));
        assertThat(kept.give("a.example")).as("what is known stays").hasValue(elsewhere);
    }

    @Test
    void aTableCannotMakeARealAddressASyntheticOne() {
        SyntheticNames names = new SyntheticNames();
        names.restore(Map.of("evil.example", Ipv4.parse("169.254.169.254")));
        assertThat(names.table()).isEmpty();
        names.restore(Map.of("a.example", Ipv4.parse("198.18.0.9")));
        names.restore(Map.of("b.example", Ipv4.parse("198.18.0.9")));
        assertThat(names.name(Ipv4.parse("198.18.0.9"))).contains("a.example");
    }

    @Test
    void aBucketFillsWithTime() {
        AtomicLong nanos = new AtomicLong();
        TokenBucket bucket = new TokenBucket(10, 2, nanos::get);
        assertThat(bucket.take()).isTrue();
        assertThat(bucket.take()).isTrue();
        assertThat(bucket.take()).isFalse();
        nanos.addAndGet(99_000_000);
        assertThat(bucket.take()).isFalse();
        nanos.addAndGet(2_000_000);
        assertThat(bucket.take()).isTrue();
        nanos.addAndGet(3_600_000_000_000L);
        assertThat(bucket.take()).isTrue();
        assertThat(bucket.take()).isTrue();
        assertThat(bucket.take()).as("an hour fills it once").isFalse();
    }
}
