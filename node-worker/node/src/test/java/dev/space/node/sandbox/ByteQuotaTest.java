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
import dev.space.node.rolling.ByteQuotas;
import dev.space.node.rolling.RollingSettings;
import dev.space.node.rolling.RollingSnapshots;
import dev.space.node.rolling.SnapshotReports;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that cost more than they may: the oldest go, and it is told. */
final class ByteQuotaTest implements SnapshotReports {

    private static final Thinning ALL = Thinning.parse("1s:7d");

    @TempDir Path directory;
    private final List<String> told = new ArrayList<>();
    private TestNode node;
    private long now = 1_000_000;

    @Override
    public void taken(SessionId session, Fence start, SnapshotTaken taken) {}

    @Override
    public void removed(SessionId session, Collection<SnapshotId> snapshots, Why why) {
        told.add(snapshots.size() + " " + why);
    }

    private static RollingSettings settings(long sessionBytes, long nodeBytes) {
        return new RollingSettings(
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                false,
                0,
                ALL,
                100,
                sessionBytes,
                nodeBytes);
    }

    @BeforeEach
    void fiveSnapshots() {
        node = new TestNode(directory);
        node.manager().start(TestNode.start(ref(1, 1, 1, 1), null));
        RollingSnapshots rolling =
                new RollingSnapshots(
                        node.manager().rolling(),
                        settings(0, 0),
                        this,
                        () -> Long.MAX_VALUE,
                        () -> now,
                        System::currentTimeMillis,
                        Runnable::run);
        rolling.look();
        for (int i = 0; i < 5; i++) {
            write(i);
            now += 61_000;
            rolling.look();
        }
        assertThat(costs()).hasSize(5).allSatisfy((_, cost) -> assertThat(cost).isPositive());
    }

    private void write(int number) {
        Iterator<ByteString> once =
                List.of(ByteString.copyFrom(new byte[100_000 + number])).iterator();
        var _ =
                node.manager()
                        .running(SESSION, 1)
                        .guest()
                        .write(
                                new GuestPath(ByteString.copyFromUtf8("f" + number), ""),
                                0,
                                true,
                                () -> once.hasNext() ? once.next() : null);
    }

    /** The newest first. */
    private Map<SnapshotId, Long> costs() {
        return node.manager().rolling().costs(SESSION);
    }

    private long newest(int count) {
        return costs().values().stream().limit(count).mapToLong(Long::longValue).sum();
    }

    private List<SnapshotId> newestIds(int count) {
        return costs().keySet().stream().limit(count).toList();
    }

    private void look(long sessionBytes, long nodeBytes) {
        new ByteQuotas(node.manager().rolling(), settings(sessionBytes, nodeBytes), this).look();
    }

    @Test
    void withinItsBoundEverySnapshotStays() {
        look(newest(5), 0);
        look(0, newest(5));
        look(0, 0);
        assertThat(costs()).hasSize(5);
        assertThat(told).isEmpty();
    }

    @Test
    void beyondTheSessionsBoundItsOldestGo() {
        List<SnapshotId> stay = newestIds(3);
        look(newest(3), 0);
        assertThat(costs().keySet()).containsExactlyElementsOf(stay);
        assertThat(told).containsExactly("2 QUOTA");
    }

    @Test
    void beyondTheNodesBoundTheOldestOfAllGo() {
        List<SnapshotId> stay = newestIds(4);
        look(0, newest(5) - 1);
        assertThat(costs().keySet()).containsExactlyElementsOf(stay);
        assertThat(told).containsExactly("1 QUOTA");
    }

    @Test
    void theNewestStaysHoweverLargeItIs() {
        List<SnapshotId> stay = newestIds(1);
        look(1, 1);
        assertThat(costs().keySet()).containsAll(stay);
    }
}
