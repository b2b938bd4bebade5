package dev.space.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.cli.platform.Pause;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.Users.User;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes ({@code sleep}), no servers: start, end, restart, adoption. */
@Timeout(60)
final class WatchTest {

    private static final Duration MAX = Duration.ofSeconds(20);

    @TempDir Path data = Path.of("");

    private Platform platform = Platform.of(Map.of(), Path.of("/"), null);
    private StateFile state = new StateFile(platform);

    @BeforeEach
    void directories() throws Exception {
        assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
                "the supervisor's files belong to root; not run as another user");
        platform = Platform.of(Map.of(), data, null);
        state = new StateFile(platform);
        Files.createDirectories(platform.run());
        Files.createDirectories(platform.log());
    }

    private Watch watch(List<String> argv, Readiness readiness, Duration readyMax) {
        Service service =
                new Service(
                        "test",
                        new User("root", 0, 0),
                        List.of(),
                        argv,
                        Map.of(),
                        data,
                        List.of(),
                        readiness,
                        readyMax,
                        "TERM",
                        Duration.ofSeconds(1));
        return new Watch(platform, service, new Launcher(platform), state, new HashMap<>());
    }

    private static Thread start(Watch watch) {
        return Thread.ofPlatform().daemon().start(watch);
    }

    private ProcessRecord live() {
        return ProcessRecord.live(platform, "test").orElseThrow();
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + MAX.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
            Pause.of(Duration.ofMillis(10));
        }
    }

    @Test
    void whatEndsIsStartedAgain() throws Exception {
        Watch watch = watch(List.of("sleep", "600"), Optional::empty, MAX);
        start(watch);
        assertThat(watch.awaitReady(MAX)).isTrue();
        ProcessRecord first = live();
        first.proc().signal("KILL");
        await(() ->
                ProcessRecord.live(platform, "test")
                        .filter(r -> r.pid() != first.pid())
                        .isPresent());
        watch.end();
        assertThat(ProcessRecord.live(platform, "test")).isEmpty();
    }

    @Test
    void aDiskThatTakesNoMoreKeepsNothingFromBeingStartedAgain() throws Exception {
        state.phase(PlatformState.Phase.STARTING, "");
        Watch watch = watch(List.of("sleep", "600"), Optional::empty, MAX);
        start(watch);
        assertThat(watch.awaitReady(MAX)).isTrue();
        ProcessRecord first = live();
        Path inTheWay = Files.createDirectories(platform.run().resolve(".supervisor.json.new/x"));
        Path alsoThis = Files.createDirectories(platform.run().resolve(".service-test.json.new/x"));
        first.proc().signal("KILL");
        await(() -> watch.lastFault().contains("cannot write"));
        await(() -> ofOurs().isEmpty()); // what has no record does not live on

        Files.delete(alsoThis);
        Files.delete(alsoThis.getParent());
        await(() ->
                ProcessRecord.live(platform, "test")
                        .filter(r -> r.pid() != first.pid())
                        .isPresent());

        Files.delete(inTheWay);
        Files.delete(inTheWay.getParent());
        state.catchUp();
        assertThat(PlatformState.last(platform).orElseThrow().services())
                .singleElement()
                .extracting(ServiceState::restarts)
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.INTEGER)
                .isPositive();
        watch.end();
    }

    @Test
    void recordsThatSomebodyCutAreMadeGood() throws Exception {
        state.phase(PlatformState.Phase.READY, "");
        Watch watch = watch(List.of("sleep", "600"), Optional::empty, MAX);
        start(watch);
        assertThat(watch.awaitReady(MAX)).isTrue();
        ProcessRecord before = live();
        Files.writeString(ProcessRecord.file(platform, "test"), "");
        Files.writeString(PlatformState.file(platform), "{");
        assertThat(PlatformState.live(platform)).isEmpty();

        state.catchUp();
        watch.keepRecord();
        assertThat(PlatformState.live(platform)).isPresent();
        assertThat(live()).isEqualTo(before);
        watch.end();

        Files.delete(PlatformState.file(platform));
        watch.keepRecord();
        assertThat(ProcessRecord.live(platform, "test")).as("of a dead one").isEmpty();
    }

    /** Children of this process that run what the test starts. */
    private static List<ProcessHandle> ofOurs() {
        return ProcessHandle.current()
                .children()
                .filter(p -> p.isAlive() && p.info().arguments().isPresent())
                .filter(p -> List.of(p.info().arguments().get()).contains("600"))
                .toList();
    }

    @Test
    void aLivingProcessIsAdoptedNotDoubled() throws Exception {
        Watch first = watch(List.of("sleep", "600"), Optional::empty, MAX);
        start(first);
        assertThat(first.awaitReady(MAX)).isTrue();
        long pid = live().pid();
        first.noMore();
        Watch second = watch(List.of("sleep", "600"), Optional::empty, MAX);
        start(second);
        assertThat(second.awaitReady(MAX)).isTrue();
        assertThat(live().pid()).isEqualTo(pid);
        second.end();
        assertThat(ProcessRecord.live(platform, "test")).isEmpty();
    }

    @Test
    void aProcessThatEndsAtOnceIsToldWithItsLog() {
        List<String> argv = List.of("sh", "-c", "echo the reason; exit 3");
        Watch watch = watch(argv, () -> Optional.of("no"), MAX);
        start(watch);
        await(() -> watch.restarts() >= 2);
        await(() -> watch.lastFault().contains("(the reason)"));
        assertThat(watch.lastFault()).contains("./space logs test");
        watch.end();
    }

    @Test
    void whatNeverGetsReadyIsEndedAndTold() {
        Watch watch =
                watch(
                        List.of("sleep", "600"),
                        () -> Optional.of("port closed"),
                        Duration.ofMillis(300));
        start(watch);
        await(() -> watch.restarts() >= 1);
        assertThat(watch.lastFault()).contains("not ready").contains("port closed");
        watch.end();
        assertThat(ProcessRecord.live(platform, "test")).isEmpty();
    }

    @Test
    void whatIgnoresTheSignalIsKilled() throws Exception {
        Watch watch =
                watch(
                        List.of("sh", "-c", "trap '' TERM; while :; do sleep 1; done"),
                        Optional::empty,
                        MAX);
        start(watch);
        assertThat(watch.awaitReady(MAX)).isTrue();
        watch.end();
        assertThat(ProcessRecord.live(platform, "test")).isEmpty();
    }
}
