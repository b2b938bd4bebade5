package dev.space.service.command;

import dev.space.model.OperationId;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jboss.logging.Logger;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Waits for operations to end, whichever instance ends them: PostgreSQL tells every instance. The
 * row is the truth; a notification only says when to look, and a look happens now and then without.
 */
@Singleton
public class OperationWaiter {
    /** Without a notification the row is looked at this often, should the listener be cut off. */
    static final Duration LOOK_EVERY = Duration.ofSeconds(2);

    private static final int NOTIFICATION_WAIT_MILLIS = 1_000;
    private static final Logger LOG = Logger.getLogger(OperationWaiter.class);

    private final DataSource source;
    private final RepairStore rows;
    private final Map<String, Set<CountDownLatch>> waiting = new ConcurrentHashMap<>();
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Inject
    public OperationWaiter(DataSource source, RepairStore rows) {
        this.source = source;
        this.rows = rows;
    }

    void start(@Observes StartupEvent event) {
        Thread.ofVirtual().name("operation-listener").start(this::listen);
    }

    void stop(@Observes ShutdownEvent event) {
        stopped.countDown();
    }

    /** The row as it is when it has ended or the time is over; empty when there is none. */
    public Optional<OperationRow> await(OperationId operation, Duration time) {
        long until = System.nanoTime() + time.toNanos();
        while (true) {
            CountDownLatch signal = expect(operation.value());
            try {
                // Looked at after the signal is in place, so that no end falls between.
                Optional<OperationRow> row = rows.operation(operation);
                long left = until - System.nanoTime();
                if (row.isEmpty() || row.get().state().ended() || left <= 0) {
                    return row;
                }
                sleep(signal, Math.min(left, LOOK_EVERY.toNanos()));
            } finally {
                forget(operation.value(), signal);
            }
        }
    }

    /**
     * As {@link #await} for an operation that nobody has sent yet: it cannot have ended, so that
     * the row is not looked at before something says so.
     */
    Optional<OperationRow> await(OperationId operation, Duration time, Runnable send) {
        long until = System.nanoTime() + time.toNanos();
        CountDownLatch signal = expect(operation.value());
        try {
            send.run();
            sleep(signal, Math.min(time.toNanos(), LOOK_EVERY.toNanos()));
        } finally {
            forget(operation.value(), signal);
        }
        return await(operation, Duration.ofNanos(Math.max(0, until - System.nanoTime())));
    }

    private CountDownLatch expect(String operation) {
        CountDownLatch signal = new CountDownLatch(1);
        waiting.compute(
                operation,
                (id, others) -> {
                    Set<CountDownLatch> all =
                            others == null ? ConcurrentHashMap.newKeySet() : others;
                    all.add(signal);
                    return all;
                });
        return signal;
    }

    private static void sleep(CountDownLatch signal, long nanos) {
        try {
            var _ = signal.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void forget(String operation, CountDownLatch signal) {
        waiting.computeIfPresent(
                operation,
                (id, all) -> {
                    all.remove(signal);
                    return all.isEmpty() ? null : all;
                });
    }

    /** Lets whoever waits for this operation look at its row now. */
    void wake(String operation) {
        Set<CountDownLatch> all = waiting.get(operation);
        if (all != null) {
            all.forEach(signal -> signal.countDown());
        }
    }

    private void listen() {
        while (stopped.getCount() > 0) {
            try (Connection connection = source.getConnection()) {
                listenOn(connection);
            } catch (SQLException cut) {
                LOG.warnf(
                        "the operation listener was cut off (%s); again in a second",
                        cut.getSQLState());
                pause();
            }
        }
    }

    private void listenOn(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN operation_ended");
        }
        PGConnection postgres = connection.unwrap(PGConnection.class);
        while (stopped.getCount() > 0) {
            PGNotification[] heard = postgres.getNotifications(NOTIFICATION_WAIT_MILLIS);
            if (heard != null) {
                for (PGNotification notification : heard) {
                    wake(notification.getParameter());
                }
            }
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("UNLISTEN *");
        }
    }

    private void pause() {
        try {
            var _ = stopped.await(1, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
