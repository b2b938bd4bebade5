package dev.space.node.guard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Fence;
import dev.space.model.Ids;
import dev.space.model.SessionId;
import dev.space.node.engine.spi.VmHold;
import dev.space.nodeapi.v1.Report;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DiskGuardTest {

    private static final long MIB = 1 << 20;
    private static final DiskLines LINES = new DiskLines(1000 * MIB, 500 * MIB, 250 * MIB);

    private final List<Report> reports = new ArrayList<>();
    private final List<Writer> running = new ArrayList<>();
    private long free = 2000 * MIB;
    private long nanos = 1;
    private int measured;
    private final DiskGuard guard =
            new DiskGuard(
                    LINES,
                    () -> free,
                    () -> List.copyOf(running),
                    (report, durable) -> {
                        assertThat(durable).isTrue();
                        reports.add(report.build());
                    },
                    () -> nanos);

    private Writer sandbox(int number) {
        byte[] random = new byte[Ids.RANDOM_BYTES];
        random[0] = (byte) number;
        Writer made = new Writer(new SessionId(Ids.text(SessionId.PREFIX, random)));
        running.add(made);
        return made;
    }

    private void look(long freeMib) {
        free = freeMib * MIB;
        guard.look();
    }

    private static void grow(Writer sandbox, long mib) {
        sandbox.own += mib * MIB;
    }

    @Test
    void whileThereIsSpaceNothingIsMeasuredAndNobodyHeld() {
        Writer one = sandbox(1);
        grow(one, 5000);
        look(1000);
        assertThat(one.hold.isHeld()).isFalse();
        assertThat(measured).isZero();
    }

    @Test
    void whoeverWroteMostSinceSpaceBecameShortIsHeldAndTold() {
        Writer writer = sandbox(1);
        Writer old = sandbox(2);
        Writer idle = sandbox(3);
        grow(old, 3000);
        look(900);
        grow(writer, 401);
        grow(old, 7);
        look(499);
        assertThat(held()).containsExactly(writer);
        assertThat(idle.hold.isHeld()).isFalse();
        assertThat(reports).hasSize(1);
        assertThat(reports.getFirst().getSessionId()).isEqualTo(writer.session().value());
        assertThat(reports.getFirst().getEpoch()).isEqualTo(1);
        assertThat(reports.getFirst().getSandboxHeld().getFreeBytes()).isEqualTo(499 * MIB);
    }

    @Test
    void oneThatWroteHalfAsMuchIsHeldTooAndTheNextOnlyWhenSpaceGoesOnFalling() {
        Writer first = sandbox(1);
        Writer second = sandbox(2);
        Writer third = sandbox(3);
        look(900);
        grow(first, 200);
        grow(second, 100);
        grow(third, 99);
        look(499);
        assertThat(held()).containsExactlyInAnyOrder(first, second);
        grow(third, 10);
        look(490);
        assertThat(held()).doesNotContain(third);
        look(482);
        assertThat(held()).contains(third);
    }

    @Test
    void whatTheNodeItselfWritesIsNoGuestsFault() {
        Writer one = sandbox(1);
        look(900);
        grow(one, 7);
        look(400);
        assertThat(held()).isEmpty();
    }

    @Test
    void belowTheLastLineEverybodyIsHeldAndAFailureOfOneChangesNothing() {
        Writer broken = sandbox(1);
        Writer other = sandbox(2);
        broken.hold =
                new VmHold(
                        () -> {
                            throw new IllegalStateException("away");
                        },
                        () -> {});
        look(249);
        assertThat(held()).containsExactly(other);
        broken.hold = new VmHold(() -> {}, () -> {});
        look(249);
        assertThat(held()).containsExactlyInAnyOrder(broken, other);
    }

    @Test
    void oneThatIsAtWorkIsHeldAfterwards() {
        Writer one = sandbox(1);
        one.hold.aside();
        look(100);
        assertThat(held()).isEmpty();
        assertThat(reports).isEmpty();
        one.hold.allow();
        look(100);
        assertThat(held()).containsExactly(one);
        one.hold.aside();
        assertThat(held()).isEmpty();
    }

    @Test
    void heldOnesAreToldOfAgainAfterAWhileAndGoOnWhenThereIsSpace() {
        Writer one = sandbox(1);
        look(100);
        look(100);
        assertThat(reports).hasSize(1);
        nanos += DiskGuard.TELL_AGAIN.toNanos() + 1;
        look(600);
        assertThat(reports).hasSize(2);
        assertThat(held()).containsExactly(one);
        look(1000);
        assertThat(held()).isEmpty();
        look(100);
        assertThat(held()).containsExactly(one);
        assertThat(reports).hasSize(3);
    }

    @Test
    void whatAnEarlierProcessHeldIsToldOfAndGoesOnWhenThereIsSpace() {
        Writer one = sandbox(1);
        assertThat(one.hold.hold()).isTrue();
        look(600);
        assertThat(held()).containsExactly(one);
        assertThat(reports).hasSize(1);
        look(1000);
        assertThat(held()).isEmpty();
    }

    @Test
    void whatAnEarlierProcessHeldGoesOnAtTheFirstLookWhenThereIsSpace() {
        Writer one = sandbox(1);
        assertThat(one.hold.hold()).isTrue();
        look(1000);
        assertThat(held()).isEmpty();
        assertThat(reports).isEmpty();
    }

    @Test
    void whatIsComparedIsNotOlderThanHalfAMinute() {
        Writer early = sandbox(1);
        Writer late = sandbox(2);
        look(900);
        grow(early, 300);
        nanos += DiskGuard.REMEMBER_AGAIN.toNanos() + 1;
        look(600);
        grow(late, 120);
        look(480);
        assertThat(held()).containsExactly(late);
        assertThat(early.hold.isHeld()).isFalse();
    }

    private List<Guarded> held() {
        return running.stream().filter(s -> s.held().isHeld()).map(s -> (Guarded) s).toList();
    }

    private final class Writer implements Guarded {

        private final SessionId session;
        private VmHold hold = new VmHold(() -> {}, () -> {});
        private long own;

        Writer(SessionId session) {
            this.session = session;
        }

        @Override
        public SessionId session() {
            return session;
        }

        @Override
        public Fence start() {
            return new Fence(1, 1, 1);
        }

        @Override
        public long ownBytes() {
            measured++;
            return own;
        }

        @Override
        public VmHold held() {
            return hold;
        }
    }
}
