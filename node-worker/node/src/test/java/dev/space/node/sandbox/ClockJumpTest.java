package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.ref;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.space.contract.node.SnapshotTaken;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.Thinning;
import dev.space.node.engine.spi.GuestPath;
import dev.space.node.rolling.ClockFile;
import dev.space.node.rolling.Retention;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.RollingSnapshots;
import dev.space.node.rolling.SnapshotReports;
import dev.space.node.rolling.SteadyTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rolling snapshots of a node whose time of day jumps by a year, and back. */
final class ClockJumpTest {

    private static final long YEAR = Duration.ofDays(365).toMillis();
    private static final long MINUTES = Duration.ofMinutes(61).toMillis();

    /** Finer than any two snapshots are apart; after nine days none is kept. */
    private static final RollingSettings SETTINGS =
            new RollingSettings(
                    Duration.ofSeconds(20),
                    Duration.ofSeconds(60),
                    false,
                    0,
                    new Thinning(
                            List.of(new Thinning.Tier(Duration.ofMillis(1), Duration.ofDays(9)))),
                    100);

    private static final SnapshotReports NOBODY =
            new SnapshotReports() {
                @Override
                public void taken(SessionId session, Fence start, SnapshotTaken taken) {}

                @Override
                public void removed(SessionId session, Collection<SnapshotId> all, Why why) {}
            };

    @TempDir Path directory;
    private long now = 1_000_000;
    private long wall = System.currentTimeMillis();
    private long steady;

    private static void write(TestNode node, int number) {
        Iterator<ByteString> once = List.of(ByteString.copyFromUtf8("x" + number)).iterator();
        var _ =
                node.manager()
                        .running(SESSION, 1)
                        .guest()
                        .write(
                                new GuestPath(ByteString.copyFromUtf8("f"), ""),
                                0,
                                true,
                                () -> once.hasNext() ? once.next() : null);
    }

    /** Takes some, one after the other. */
    private void taken(TestNode node) {
        RollingSnapshots rolling =
                new RollingSnapshots(
                        node.manager().rolling(),
                        SETTINGS,
                        NOBODY,
                        () -> Long.MAX_VALUE,
                        () -> now,
                        System::currentTimeMillis,
                        Runnable::run);
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        rolling.look();
        for (int i = 0; i < 3; i++) {
            write(node, i);
            now += 61_000;
            rolling.look();
        }
    }

    private Retention retention(TestNode node, String boot) {
        return new Retention(
                node.manager().rolling(),
                SETTINGS,
                NOBODY,
                () -> Long.MAX_VALUE,
                new SteadyTime(
                        () -> wall, () -> steady, boot, ClockFile.in(directory.resolve("clock"))));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void norWhenTheNodeStartsAnewJustAfterTheJump(int years) {
        long jump = years * YEAR;
        TestNode node = new TestNode(directory);
        taken(node);
        int before = node.manager().rolling().snapshots(SESSION).size();
        retention(node, "a").thin();
        assertThat(node.manager().rolling().snapshots(SESSION)).hasSize(before);
        wall += jump;
        for (String boot : List.of("a", "b")) { // its process ended; the machine was off
            Retention after = retention(node, boot);
            after.thin();
            assertThat(node.manager().rolling().snapshots(SESSION)).as(boot).hasSize(before);
        }
        Retention back = retention(node, "b");
        wall -= jump;
        back.thin();
        assertThat(node.manager().rolling().snapshots(SESSION)).as("it is back").hasSize(before);
    }

    @Test
    void aMachineThatWasOffForLongerWaitsForAnHourAndOneThatWasNotDoesNot() {
        TestNode node = new TestNode(directory);
        taken(node);
        int before = node.manager().rolling().snapshots(SESSION).size();
        retention(node, "a").thin();
        wall += YEAR;
        steady = 0; // counted anew
        Retention after = retention(node, "b");
        after.thin();
        steady += MINUTES;
        wall += MINUTES;
        after.thin();
        assertThat(node.manager().rolling().snapshots(SESSION))
                .as("that is the time then")
                .hasSizeLessThan(before);
    }

    @Test
    void whatTheProcessWasNotThereForIsNoJump() {
        TestNode node = new TestNode(directory);
        taken(node);
        int before = node.manager().rolling().snapshots(SESSION).size();
        retention(node, "a").thin();
        wall += YEAR;
        steady += YEAR;
        retention(node, "a").thin();
        assertThat(node.manager().rolling().snapshots(SESSION)).hasSizeLessThan(before);
    }

    @Test
    void nothingIsTooOldUntilTheClockHasStayedForAnHour() {
        TestNode node = new TestNode(directory);
        taken(node);
        int before = node.manager().rolling().snapshots(SESSION).size();
        assertThat(before).isGreaterThan(2);
        Retention retention =
                new Retention(
                        node.manager().rolling(),
                        SETTINGS,
                        NOBODY,
                        () -> Long.MAX_VALUE,
                        new SteadyTime(() -> wall, () -> steady));
        for (long jump : new long[] {YEAR, -YEAR, -YEAR, YEAR, YEAR}) {
            wall += jump;
            retention.thin();
            assertThat(node.manager().rolling().snapshots(SESSION))
                    .as("jump of " + jump)
                    .hasSize(before);
        }
        steady += MINUTES;
        wall += MINUTES;
        retention.thin();
        assertThat(node.manager().rolling().snapshots(SESSION))
                .as("that is the time then")
                .hasSizeLessThan(before);
    }
}
