package dev.space.node.app;

import dev.space.node.engine.spi.GuestActivity;
import dev.space.node.reports.Outbox;
import dev.space.node.sandbox.Sandbox;
import dev.space.node.sandbox.SandboxManager;
import dev.space.nodeapi.v1.Activity;
import dev.space.nodeapi.v1.Report;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that comes round: syncing the outbox, telling activity, forgetting old fences. */
final class Housekeeping implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);
    private static final Duration SYNC = Duration.ofMillis(300);
    private static final Duration ACTIVITY = Duration.ofSeconds(15);
    private static final long END_MILLIS_MAX = 5_000;
    private static final Duration OWED_ENDS = Duration.ofSeconds(2);
    private static final Duration SWEEP = Duration.ofHours(1);

    private final SandboxManager manager;
    private final Outbox outbox;
    private final Map<String, Long> told = new HashMap<>();
    private final ScheduledExecutorService timer =
            Executors.newScheduledThreadPool(
                    2, Thread.ofPlatform().daemon().name("housekeeping-", 0).factory());

    Housekeeping(SandboxManager manager, Outbox outbox) {
        this.manager = manager;
        this.outbox = outbox;
    }

    static Housekeeping started(SandboxManager manager, Outbox outbox) {
        Housekeeping made = new Housekeeping(manager, outbox);
        made.start();
        return made;
    }

    private void start() {
        every(SYNC, outbox::flush);
        every(ACTIVITY, this::tellActivity);
        every(OWED_ENDS, manager::finishEnds);
        every(SWEEP, manager::sweep);
    }

    private void every(Duration period, Runnable work) {
        var _ =
                timer.scheduleWithFixedDelay(
                        () -> {
                            try {
                                work.run();
                            } catch (RuntimeException e) {
                                LOG.warn("housekeeping goes on after a failure", e);
                            }
                        },
                        period.toMillis(),
                        period.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    private void tellActivity() {
        Map<String, Long> now = new HashMap<>();
        for (Sandbox sandbox : manager.sandboxes()) {
            try {
                GuestActivity activity = sandbox.guest().activity();
                String session = sandbox.session().value();
                now.put(session, activity.lastActiveUnixMillis());
                Long before = told.get(session);
                if (before == null || before != activity.lastActiveUnixMillis()) {
                    outbox.add(report(sandbox, activity), false);
                }
            } catch (RuntimeException e) {
                LOG.debug("no activity of {}", sandbox.session(), e);
            }
        }
        told.clear();
        told.putAll(now);
    }

    private static Report.Builder report(Sandbox sandbox, GuestActivity activity) {
        return Report.newBuilder()
                .setSessionId(sandbox.session().value())
                .setEpoch(sandbox.start().epoch())
                .setNumber(sandbox.start().number())
                .setAttempt(sandbox.start().attempt())
                .setActivity(
                        Activity.newBuilder()
                                .setLastActiveMillis(activity.lastActiveUnixMillis())
                                .setCpuMicros(activity.cpuMicros()));
    }

    /**
     * Waits rather than interrupts: an interrupt would close the outbox's file under its writer.
     */
    @Override
    public void close() {
        timer.shutdown();
        try {
            if (!timer.awaitTermination(END_MILLIS_MAX, TimeUnit.MILLISECONDS)) {
                LOG.warn("housekeeping is cut off; it did not end in {} ms", END_MILLIS_MAX);
                timer.shutdownNow();
            }
        } catch (InterruptedException e) {
            timer.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
