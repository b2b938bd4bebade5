package dev.space.node.sandbox;

import static dev.space.node.sandbox.TestNode.SESSION;
import static dev.space.node.sandbox.TestNode.ref;
import static dev.space.node.sandbox.TestNode.snapshot;
import static dev.space.node.sandbox.TestNode.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.HoldSnapshot;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.StepRef;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SnapshotKind;
import dev.space.model.SpaceException;
import dev.space.model.Thinning;
import dev.space.node.rolling.Retention;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.SnapshotReports;
import dev.space.node.rolling.SteadyTime;
import dev.space.node.volumes.ChangeMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an accepted operation starts from is not thinned while it is under way. */
final class HoldTest {

    private static final SnapshotId TARGET = snapshot(41);

    @TempDir Path directory;
    private TestNode node;

    private final SnapshotReports reports =
            new SnapshotReports() {
                @Override
                public void taken(SessionId session, Fence start, SnapshotTaken taken) {}

                @Override
                public void removed(SessionId session, Collection<SnapshotId> gone, Why why) {
                    assertThat(gone)
                            .as("only what is gone is told")
                            .doesNotContainAnyElementsOf(there());
                }
            };

    /** A sandbox with three rolling snapshots, of which the oldest is the target. */
    @BeforeEach
    void open() {
        node = new TestNode(directory);
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        for (SnapshotId id : List.of(TARGET, snapshot(42), snapshot(43))) {
            Sandbox sandbox = node.manager().running(SESSION, 1);
            assertThat(
                            node.manager()
                                    .rolling()
                                    .take(
                                            sandbox,
                                            id,
                                            SnapshotKind.FULL,
                                            false,
                                            new ChangeMark(1, 1)))
                    .isPresent();
        }
    }

    private List<SnapshotId> there() {
        return node.manager().rolling().snapshots(SESSION).stream()
                .map(manifest -> manifest.taken().snapshot())
                .toList();
    }

    private void thin(long atMillis) {
        Thinning weekly =
                new Thinning(List.of(new Thinning.Tier(Duration.ofDays(7), Duration.ofDays(9))));
        new Retention(
                        node.manager().rolling(),
                        new RollingSettings(
                                Duration.ofSeconds(20), Duration.ofMinutes(1), false, 1, weekly, 1),
                        reports,
                        () -> 0,
                        new SteadyTime(() -> atMillis, () -> 0))
                .thin();
    }

    private void hold(StepRef ref) {
        node.manager().hold(new HoldSnapshot(ref, TARGET));
    }

    private void assertRefused(StepRef ref, ErrorCode code) {
        assertThatThrownBy(() -> hold(ref))
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void withoutOneTheTargetGoes() {
        thin(System.currentTimeMillis());
        assertThat(there()).doesNotContain(TARGET).isNotEmpty();
    }

    @Test
    void itStaysUntilTheRollbackHasStartedFromIt() {
        hold(ref(2, 2, 2, 1));
        thin(System.currentTimeMillis() + Duration.ofDays(1).toMillis());
        assertThat(there()).contains(TARGET);
        node.restart();
        thin(System.currentTimeMillis());
        assertThat(there()).as("the journal has it").contains(TARGET);

        node.manager().pause(take(ref(2, 2, 2, 2), snapshot(44)));
        thin(System.currentTimeMillis());
        var _ = node.manager().start(TestNode.start(ref(2, 2, 2, 3), TARGET));
        assertThat(node.manager().inspect(SESSION).getFirst().runningEpoch()).isEqualTo(2);
    }

    @Test
    void whatIsShortOfSpaceTakesItNoMoreThanAgeDoes() {
        hold(ref(2, 1, 2, 1));
        assertThat(node.manager().rolling().remove(SESSION, List.of(TARGET, snapshot(42))))
                .containsExactly(snapshot(42));
        assertThat(there()).containsExactlyInAnyOrder(TARGET, snapshot(43));
    }

    @Test
    void theChildrenOfAForkFindItThoughTheSourceWentOn() {
        hold(ref(2, 1, 2, 1));
        node.manager().checkpoint(take(ref(3, 1, 3, 1), snapshot(45)));
        thin(System.currentTimeMillis());
        assertThat(there()).contains(TARGET);
    }

    @Test
    void afterANewerOperationAndAnHourItMayGo() throws IOException {
        hold(ref(2, 1, 2, 1));
        node.manager().checkpoint(take(ref(3, 1, 3, 1), snapshot(45)));
        Journal journal = Journal.open(directory.resolve("main/sessions").resolve(SESSION.value()));
        SessionRecord record = Objects.requireNonNull(journal).last();
        long now = System.currentTimeMillis();
        assertThat(record.holds(TARGET, now)).isTrue();
        assertThat(record.holds(TARGET, now + Hold.LEAST.multipliedBy(2).toMillis())).isFalse();
    }

    @Test
    void itOvertakesNothing() {
        hold(ref(2, 2, 2, 1));
        assertThat(
                        node.manager()
                                .rolling()
                                .take(
                                        node.manager().running(SESSION, 1),
                                        snapshot(46),
                                        SnapshotKind.DISK,
                                        false,
                                        new ChangeMark(2, 2)))
                .as("where the operation fails, the sandbox goes on as before")
                .isPresent();
    }

    @Test
    void aTargetThatIsGoneOrDamagedOrAsksTooLateIsRefused() throws IOException {
        hold(ref(2, 2, 2, 1));
        node.manager().deleteSnapshot(new DeleteSnapshot(ref(3, 2, 3, 1), snapshot(42)));
        assertRefused(ref(2, 2, 2, 2), ErrorCode.STALE_FENCE);

        Path disk = node.snapshots().directory(SESSION, TARGET).resolve("disk");
        Files.write(disk, new byte[1]);
        assertRefused(ref(4, 3, 4, 1), ErrorCode.SNAPSHOT_CORRUPT);
        node.snapshots().delete(SESSION, TARGET);
        assertRefused(ref(4, 3, 4, 2), ErrorCode.SNAPSHOT_NOT_FOUND);
        assertThat(node.manager().running(SESSION, 1).start()).isEqualTo(new Fence(1, 1, 1));
    }
}
