package dev.space.service.edge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.model.lifecycle.LifecycleTable;
import dev.space.model.lifecycle.Situation;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.NodeErrors;
import dev.space.service.command.EnvCipher;
import dev.space.service.command.OperationWaiter;
import dev.space.service.command.SessionCommands;
import dev.space.service.problem.ProblemException;
import dev.space.store.CommandArguments;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import dev.space.store.RouteStore;
import dev.space.store.RouteStore.Route;
import io.grpc.StatusException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * From a session to its sandbox. The way is cached; a node that refuses the epoch makes the edge
 * look again, once. A session that does not run is waited for, resumed when it wants to be, or
 * refused with its state and what that allows. Wake-ups of one session become one command.
 */
@Singleton
public class Edge {
    /** How long a data-plane call waits for a session that is on its way to RUNNING. */
    static final Duration READY_WAIT = Duration.ofSeconds(30);

    /** How long a call whose sandbox went away waits to learn why. */
    private static final Duration ENDING_WAIT = Duration.ofSeconds(10);

    private static final Duration CACHED = Duration.ofSeconds(20);
    private static final int CACHED_MAX = 50_000;

    private final RouteStore routes;
    private final RepairStore rows;
    private final EnvCipher cipher;
    private final NodeChannels channels;
    private final OperationWaiter waiter;
    private final SessionCommands commands;
    private final Cache<SessionId, Route> cache =
            Caffeine.newBuilder().maximumSize(CACHED_MAX).expireAfterWrite(CACHED).build();
    private final Map<SessionId, ReentrantLock> wakeUps = new ConcurrentHashMap<>();

    @Inject
    public Edge(
            RouteStore routes,
            RepairStore rows,
            EnvCipher cipher,
            NodeChannels channels,
            OperationWaiter waiter,
            SessionCommands commands) {
        this.routes = routes;
        this.rows = rows;
        this.cipher = cipher;
        this.channels = channels;
        this.waiter = waiter;
        this.commands = commands;
    }

    /** What is done on the way; may run a second time when the first met a stale epoch. */
    @FunctionalInterface
    public interface Call<T> {
        T on(Leg leg) throws StatusException, InterruptedException;
    }

    /** Runs the call where the session's sandbox is. */
    public <T> T call(String project, String actor, SessionId session, Call<T> call) {
        try {
            return attempt(project, actor, session, call);
        } catch (SpaceException failure) {
            throw switch (failure.code()) {
                case GUEST_UNREACHABLE, PROCESS_LOST -> explained(session, failure);
                // Looked up again and still not there: it ended, and the row does not know yet.
                case STALE_FENCE -> explained(session, ended(session, failure));
                default -> failure;
            };
        }
    }

    private static SpaceException ended(SessionId session, SpaceException failure) {
        return new SpaceException(
                ErrorCode.UNAVAILABLE,
                "the sandbox of " + session + " ended just now; try again, or look the session up",
                failure);
    }

    /** The sandbox went away under a call: the row knows what became of the session. */
    private RuntimeException explained(SessionId session, SpaceException failure) {
        cache.invalidate(session);
        Route route = routes.find(session).orElse(null);
        if (route == null) {
            return failure;
        }
        OperationRow ending = inFlight(route);
        if (ending != null && blocks(ending) && !route.tombstoned()) {
            var _ = waiter.await(ending.id(), ENDING_WAIT);
            route = routes.find(session).orElse(route);
        }
        if (route.tombstoned()) {
            return new SpaceException(
                    ErrorCode.GONE, "session " + session + " was destroyed meanwhile", failure);
        }
        return route.state() == SessionState.RUNNING
                ? failure
                : refusal(route, code(route.state()), String.valueOf(failure.getMessage()));
    }

    private <T> T attempt(String project, String actor, SessionId session, Call<T> call) {
        Route cached = cache.getIfPresent(session);
        if (cached != null && cached.project().equals(project)) {
            try {
                return run(cached, actor, call);
            } catch (SpaceException failure) {
                // Not sent again when it may have been carried out: the next call looks anew.
                if (failure.code() == ErrorCode.NODE_UNREACHABLE) {
                    cache.invalidate(session);
                }
                if (!isWorthAnotherLook(failure.code())) {
                    throw failure;
                }
                cache.invalidate(session);
            }
        }
        return run(running(project, actor, session), actor, call);
    }

    /** Looks at the row now, for calls whose body can be sent only once. */
    public void refresh(String project, String actor, SessionId session) {
        cache.invalidate(session);
        var _ = running(project, actor, session);
    }

    private <T> T run(Route route, String actor, Call<T> call) {
        String node = String.valueOf(route.node());
        Leg leg =
                new Leg(
                        channels.to(String.valueOf(route.address())),
                        route.session(),
                        route.epoch(),
                        actor,
                        node,
                        cipher.decrypt(route.session(), route.envEncrypted()));
        try {
            return call.on(leg);
        } catch (StatusException failure) {
            throw NodeErrors.toException(failure, node);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the server is stopping", stop);
        }
    }

    /** The epoch moved on, the node did, or its sandbox is no more: the row knows. */
    private static boolean isWorthAnotherLook(ErrorCode code) {
        return switch (code) {
            case STALE_FENCE, NOT_FOUND, GONE, NOT_READY, SESSION_PAUSED, SESSION_FAILED -> true;
            default -> false;
        };
    }

    private Route running(String project, String actor, SessionId session) {
        long until = System.nanoTime() + READY_WAIT.toNanos();
        while (true) {
            Route route =
                    routes.find(session).filter(r -> r.project().equals(project)).orElse(null);
            if (route == null) {
                throw new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + session);
            }
            if (route.tombstoned()) {
                throw new SpaceException(ErrorCode.GONE, "session " + session + " was destroyed");
            }
            Duration left = Duration.ofNanos(until - System.nanoTime());
            OperationRow inFlight = inFlight(route);
            if (route.state() == SessionState.RUNNING && !blocks(inFlight)) {
                cache.put(session, route);
                return route;
            }
            if (left.isNegative()) {
                throw refusal(route, ErrorCode.TIMED_OUT, "the session is still not running");
            }
            if (inFlight != null && mayWait(route, inFlight)) {
                waiter.await(inFlight.id(), left);
            } else if (route.autoResume() && isSuspending(inFlight)) {
                wake(route, actor, left); // which cancels the upload, if that can be cancelled
            } else if (route.state() == SessionState.NEW) {
                waitForCreate(route, left);
            } else if (route.autoResume() && route.state() != SessionState.FAILED) {
                wake(route, actor, left);
            } else {
                throw refusal(route, code(route.state()), "");
            }
        }
    }

    private @Nullable OperationRow inFlight(Route route) {
        return route.inFlight() == null
                ? null
                : rows.operation(new OperationId(route.inFlight()))
                        .filter(row -> !row.state().ended())
                        .orElse(null);
    }

    /** CHECKPOINT and FORK are served: the node holds calls for the milliseconds of a stop. */
    private static boolean blocks(@Nullable OperationRow inFlight) {
        return inFlight != null
                && switch (inFlight.kind()) {
                    case CHECKPOINT, FORK -> false;
                    default -> true;
                };
    }

    private static boolean mayWait(Route route, OperationRow inFlight) {
        return switch (inFlight.kind()) {
            case PAUSE -> route.autoResume();
            case SUSPEND, DESTROY -> false;
            default -> true;
        };
    }

    private static boolean isSuspending(@Nullable OperationRow inFlight) {
        return inFlight != null && inFlight.kind() == OperationKind.SUSPEND;
    }

    /** The CREATE is REQUESTED and no workflow has it yet, or it has just ended. */
    private void waitForCreate(Route route, Duration left) {
        OperationRow create =
                rows.createOf(route.session()).filter(row -> !row.state().ended()).orElse(null);
        if (create == null) {
            Route again = routes.find(route.session()).orElse(route);
            if (again.state() == SessionState.NEW) {
                throw refusal(route, ErrorCode.NOT_READY, "");
            }
            return;
        }
        waiter.await(create.id(), left);
    }

    /** One command for all calls that come while the session sleeps. */
    private void wake(Route route, String actor, Duration left) {
        ReentrantLock lock = wakeUps.computeIfAbsent(route.session(), id -> new ReentrantLock());
        lock.lock();
        try {
            Route now = routes.find(route.session()).orElse(route);
            OperationRow begun = inFlight(now);
            boolean sleeps = now.state() != SessionState.RUNNING && begun == null;
            if ((sleeps || isSuspending(begun)) && !now.tombstoned()) {
                commands.command(
                        route.project(),
                        route.session(),
                        Command.RESUME,
                        CommandArguments.NONE,
                        actor,
                        null,
                        left);
            }
        } finally {
            lock.unlock();
            wakeUps.remove(route.session(), lock);
        }
    }

    private static ErrorCode code(SessionState state) {
        return switch (state) {
            case NEW, WARM -> ErrorCode.NOT_READY;
            case RUNNING -> ErrorCode.OPERATION_IN_PROGRESS;
            case PAUSED -> ErrorCode.SESSION_PAUSED;
            case SUSPENDED -> ErrorCode.SESSION_SUSPENDED;
            case FAILED -> ErrorCode.SESSION_FAILED;
            case DESTROYED -> ErrorCode.GONE;
        };
    }

    private ProblemException refusal(Route route, ErrorCode code, String detail) {
        OperationRow inFlight = inFlight(route);
        return new ProblemException(
                code,
                detail,
                inFlight == null ? null : inFlight.id(),
                route.state(),
                LifecycleTable.STANDARD.allowed(
                        new Situation(
                                route.state(),
                                inFlight == null ? null : inFlight.kind(),
                                route.epoch(),
                                Set.of())));
    }
}
