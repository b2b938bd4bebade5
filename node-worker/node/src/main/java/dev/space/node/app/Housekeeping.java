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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work that comes round: syncing the outbox, telling activity, forgetting old fences. */
final class Housekeeping implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);
    private static final Duration SYNC = Duration.ofMillis(300);
    private static final Duration ACTIVITY = Duration.ofSeconds(15);
    private static final Duration END_MAX = Duration.ofSeconds(5);
    private static final Duration OWED_ENDS = Duration.ofSeconds(2);
    private static final Duration SWEEP = Duration.ofHours(1);

    private final SandboxManager manager;
    private final Outbox outbox;
    private final Map<String, Long> told = new HashMap<>();
    private final Rounds rounds = new Rounds("housekeeping", 2, END_MAX);

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
        rounds.every(SYNC, outbox::flush);
        rounds.every(ACTIVITY, this::tellActivity);
        rounds.every(OWED_ENDS, manager::finishEnds);
        rounds.every(SWEEP, manager::sweep);
    }

    private void tellActivity() {
        Map<String, Long> now = new HashMap<>();
        for (Sandbox sandbox : manager.sandboxes()) {
            if (sandbox.vm().held().isHeld()) {
                continue; // it would not answer
            }
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

    @Override
    public void close() {
        rounds.close();
    }
}
