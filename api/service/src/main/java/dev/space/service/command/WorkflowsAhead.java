package dev.space.service.command;

import dev.space.contract.session.SessionWorkflow;
import dev.space.model.SessionId;
import dev.space.service.config.SpaceConfig;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Ids of sessions whose workflow runs already. Starting a workflow costs the server four times what
 * a command to a running one does, and a creation need not wait for it. An id is only a head start:
 * the row is written as for any other, and where the workflow is gone after all, the first command
 * starts it. What this process forgets (a kill, an id that grew old) ends by itself.
 */
@Singleton
public class WorkflowsAhead {
    /** Of {@code space.control.workflows-ahead}: each holds a place in the workers' cache. */
    public static final int MAX = 64;

    /** Well below what the workflow itself waits. */
    static final Duration USABLE = SessionWorkflow.AHEAD_MAX.multipliedBy(3).dividedBy(4);

    /** Creations come first: nothing is started within this time of one. */
    static final Duration QUIET = Duration.ofMillis(250);

    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);
    private static final int STOP_SECONDS_MAX = 5;
    private static final Logger LOG = Logger.getLogger(WorkflowsAhead.class);

    /** An id and when its workflow was started, in the clock's nanoseconds. */
    private record Ahead(SessionId session, long since) {}

    private final Consumer<SessionId> start;
    private final Consumer<SessionId> end;
    private final IdSource ids;
    private final LongSupplier clock;
    private final int wanted;
    private final ConcurrentLinkedDeque<Ahead> waiting = new ConcurrentLinkedDeque<>();
    private volatile long quietFrom;
    private volatile @Nullable ScheduledExecutorService thread;

    @Inject
    public WorkflowsAhead(
            SessionWorkflows workflows, IdSource ids, SpaceConfig config, MeterRegistry metrics) {
        this(
                workflows::startAhead,
                workflows::endAhead,
                ids,
                System::nanoTime,
                config.control().workflowsAhead());
        metrics.gaugeCollectionSize("space_workflows_ahead", List.of(), waiting);
    }

    WorkflowsAhead(
            Consumer<SessionId> start,
            Consumer<SessionId> end,
            IdSource ids,
            LongSupplier clock,
            int wanted) {
        if (wanted < 0 || wanted > MAX) {
            throw new IllegalArgumentException(
                    "space.control.workflows-ahead is 0 to " + MAX + ", not " + wanted);
        }
        this.start = start;
        this.end = end;
        this.ids = ids;
        this.clock = clock;
        this.wanted = wanted;
        this.quietFrom = clock.getAsLong();
    }

    /** The id for a new session; its workflow runs already where there is one ahead. */
    public SessionId take() {
        quietFrom = clock.getAsLong() + QUIET.toNanos();
        Ahead next = waiting.pollFirst();
        while (next != null && !usable(next)) {
            next = waiting.pollFirst();
        }
        return next == null ? ids.session() : next.session();
    }

    /** The id stands for no session: the request was a repetition, and no row has it. */
    public void unused(SessionId id) {
        ScheduledExecutorService running = thread;
        if (running != null) {
            var _ = quietly(() -> running.execute(() -> quietly(() -> end.accept(id))));
        }
    }

    private boolean usable(Ahead ahead) {
        return clock.getAsLong() - ahead.since() < USABLE.toNanos();
    }

    /** Begins to start workflows, in the background. */
    public synchronized void open() {
        if (wanted == 0 || thread != null) {
            return;
        }
        ScheduledExecutorService made =
                Executors.newSingleThreadScheduledExecutor(
                        Thread.ofPlatform().name("workflows-ahead").daemon().factory());
        thread = made;
        var _ =
                made.scheduleWithFixedDelay(
                        this::startOne, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Starts one where one is missing and nobody creates a session just now; false when that
     * failed.
     */
    boolean startOne() {
        waiting.removeIf(ahead -> !usable(ahead));
        if (waiting.size() >= wanted || clock.getAsLong() - quietFrom < 0) {
            return true;
        }
        SessionId session = ids.session();
        long since = clock.getAsLong();
        if (!quietly(() -> start.accept(session))) {
            quietFrom = clock.getAsLong() + AFTER_FAILURE.toNanos();
            return false;
        }
        waiting.addLast(new Ahead(session, since));
        return true;
    }

    /** Whatever is wrong with the server, the next creation finds and tells. */
    private static boolean quietly(Runnable call) {
        try {
            call.run();
            return true;
        } catch (RuntimeException failure) {
            LOG.debugf("a workflow ahead: %s", failure);
            return false;
        }
    }

    /** Ends what waits. */
    public synchronized void close() throws InterruptedException {
        ScheduledExecutorService running = thread;
        if (running == null) {
            return;
        }
        thread = null;
        running.shutdownNow();
        var _ = running.awaitTermination(STOP_SECONDS_MAX, TimeUnit.SECONDS);
        long until = clock.getAsLong() + TimeUnit.SECONDS.toNanos(STOP_SECONDS_MAX);
        for (Ahead next = waiting.poll(); next != null; next = waiting.poll()) {
            SessionId session = next.session();
            if (clock.getAsLong() - until > 0 || !quietly(() -> end.accept(session))) {
                return;
            }
        }
    }
}
