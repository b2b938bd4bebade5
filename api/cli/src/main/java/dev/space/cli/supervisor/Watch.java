package dev.space.cli.supervisor;

import dev.space.cli.platform.Pause;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Proc;
import dev.space.cli.supervisor.ServiceState.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one service running: adopts its process where one lives, else starts it; starts it again,
 * ever more slowly, when it ends. One thread each.
 */
final class Watch implements Runnable {

    private static final Duration BACKOFF_MIN = Duration.ofMillis(250);
    private static final Duration BACKOFF_MAX = Duration.ofSeconds(15);

    /** A process that lived this long has earned a quick restart. */
    private static final Duration STEADY = Duration.ofMinutes(1);

    private static final Duration ASK_EVERY = Duration.ofMillis(100);

    /** How often an adopted process, whose end nobody reports, is looked at. */
    private static final Duration LOOK_EVERY = Duration.ofMillis(250);

    private static final Duration DEATH_LOOK_EVERY = Duration.ofMillis(20);

    private final Platform platform;
    private final Service service;
    private final Launcher launcher;
    private final StateFile state;
    private final Map<String, Watch> all;
    private final CountDownLatch readyOnce = new CountDownLatch(1);
    private final CountDownLatch stop = new CountDownLatch(1);
    private volatile @Nullable ProcessRecord current;
    private volatile String lastFault = "";
    private final AtomicInteger restarts = new AtomicInteger();

    Watch(
            Platform platform,
            Service service,
            Launcher launcher,
            StateFile state,
            Map<String, Watch> all) {
        this.platform = platform;
        this.service = service;
        this.launcher = launcher;
        this.state = state;
        this.all = all;
    }

    Service service() {
        return service;
    }

    /** Waits until the service was ready once; false at the deadline. */
    boolean awaitReady(Duration max) throws InterruptedException {
        return readyOnce.await(max.toMillis(), TimeUnit.MILLISECONDS);
    }

    String lastFault() {
        return lastFault;
    }

    int restarts() {
        return restarts.get();
    }

    /** Makes the service visible in the state, in the order of these calls. */
    void announce() {
        String after = String.join(", ", service.after());
        publish(Phase.WAITING, 0, after.isEmpty() ? "" : "after " + after);
    }

    void start() {
        var _ = Thread.ofPlatform().name(service.name()).start(this);
    }

    @Override
    public void run() {
        try {
            for (String name : service.after()) {
                Watch other = all.get(name);
                if (other != null && !other.awaitReadyOrStop(stop)) {
                    return;
                }
            }
            keepRunning();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitReadyOrStop(CountDownLatch theirStop) throws InterruptedException {
        while (!readyOnce.await(ASK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
            if (theirStop.getCount() == 0) {
                return false;
            }
        }
        return true;
    }

    private void keepRunning() throws InterruptedException {
        Duration backoff = BACKOFF_MIN;
        while (stop.getCount() > 0) {
            Instant began = Instant.now();
            try {
                attempt();
            } catch (PlatformException e) {
                lastFault = String.valueOf(e.getMessage());
            } catch (RuntimeException e) {
                // Whatever it was: a service that nobody watches would stay down for good.
                lastFault = "unexpected: " + e;
            }
            if (stop.getCount() == 0) {
                return;
            }
            var _ = restarts.incrementAndGet();
            boolean steady = Duration.between(began, Instant.now()).compareTo(STEADY) > 0;
            backoff = steady ? BACKOFF_MIN : min(backoff.multipliedBy(2), BACKOFF_MAX);
            publish(Phase.BACKOFF, 0, lastFault + "; again in " + backoff.toMillis() + " ms");
            var _ = stop.await(backoff.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** One life of the process: until it ends or is to be stopped. */
    private void attempt() throws InterruptedException {
        Optional<ProcessRecord> found = ProcessRecord.live(platform, service.name());
        ProcessRecord mine = found.isPresent() ? found.get() : launcher.start(service);
        current = mine;
        String how = found.isPresent() ? "adopted" : "started";
        publish(Phase.STARTING, mine.pid(), how);
        long began = System.nanoTime();
        if (untilReady(mine)) {
            long millis = (System.nanoTime() - began) / 1_000_000;
            if (readyOnce.getCount() > 0) {
                state.progress("%s %s, ready after %d ms".formatted(service.name(), how, millis));
            }
            readyOnce.countDown();
            publish(Phase.READY, mine.pid(), how);
            awaitEnd(mine);
        }
    }

    private boolean untilReady(ProcessRecord mine) throws InterruptedException {
        long deadline = System.nanoTime() + service.readyMax().toNanos();
        String why = "";
        while (stop.getCount() > 0) {
            if (!mine.proc().alive()) {
                lastFault =
                        "ended before it was ready%s: ./space logs %s"
                                .formatted(launcher.lastWords(service), service.name());
                return false;
            }
            Optional<String> answer = service.readiness().whyNot();
            if (answer.isEmpty()) {
                return true;
            }
            if (!answer.get().equals(why)) {
                why = answer.get();
                lastFault = why;
                publish(Phase.STARTING, mine.pid(), why);
            }
            if (System.nanoTime() > deadline) {
                lastFault = "not ready after " + service.readyMax().toSeconds() + " s: " + why;
                end(mine.proc());
                return false;
            }
            var _ = stop.await(ASK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }
        return false;
    }

    private void awaitEnd(ProcessRecord mine) throws InterruptedException {
        while (mine.proc().alive()) {
            if (stop.await(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        }
        lastFault = "pid " + mine.pid() + " ended unasked";
        state.progress(service.name() + ": " + lastFault);
    }

    /** Whoever adopts the process after us finds it by its record: it is made good when lost. */
    void keepRecord() {
        ProcessRecord mine = current;
        if (mine == null
                || !mine.proc().alive()
                || ProcessRecord.live(platform, service.name()).isPresent()) {
            return;
        }
        try {
            ProcessRecord.write(platform, mine);
        } catch (PlatformException e) {
            lastFault = String.valueOf(e.getMessage()); // and tried again at the next look
        }
    }

    /** No more starts from now on. */
    void noMore() {
        stop.countDown();
    }

    /** Ends the process in order, then by force. */
    void end() {
        noMore();
        ProcessRecord mine =
                current != null
                        ? current
                        : ProcessRecord.live(platform, service.name()).orElse(null);
        if (mine != null && mine.proc().alive()) {
            publish(Phase.STOPPING, mine.pid(), "SIG" + service.stopSignal());
            end(mine.proc());
        }
        publish(Phase.STOPPED, 0, "");
    }

    private void end(Proc proc) {
        proc.signal(service.stopSignal());
        if (!awaitDeath(proc, service.stopMax())) {
            state.progress(service.name() + " does not end; killed");
            proc.signal("KILL");
            var _ = awaitDeath(proc, Duration.ofSeconds(10));
        }
    }

    private static boolean awaitDeath(Proc proc, Duration max) {
        long deadline = System.nanoTime() + max.toNanos();
        while (proc.alive()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            Pause.of(DEATH_LOOK_EVERY);
        }
        return true;
    }

    private void publish(Phase phase, long pid, String detail) {
        state.service(
                new ServiceState(
                        service.name(),
                        phase,
                        pid,
                        restarts.get(),
                        Instant.now().toString(),
                        detail));
    }

    private static Duration min(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
