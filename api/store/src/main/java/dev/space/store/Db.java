package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Short transactions in plain SQL. It owns begin, commit and rollback, and turns what PostgreSQL
 * says into the catalogue's UNAVAILABLE or INTERNAL; it knows no table.
 */
@Singleton
public class Db {
    /** A statement that runs longer holds a lock somebody waits for; it is given up. */
    static final int STATEMENT_SECONDS_MAX = 10;

    private final DataSource source;

    @Inject
    public Db(DataSource source) {
        this.source = source;
    }

    /** What runs inside one transaction. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object> {
        T run(Tx tx) throws SQLException;
    }

    /** Reads one row. */
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Runs the work in one transaction: all of it happens, or nothing. */
    public <T extends @Nullable Object> T inTransaction(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            try {
                T result = work.run(new Tx(connection));
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException | Error failure) {
                rollback(connection, failure);
                throw failure;
            } finally {
                connection.setAutoCommit(true);
            }
        } catch (SQLException failure) {
            throw translate(failure);
        }
    }

    /**
     * Runs one statement, which is a transaction of its own: no round trip is paid for a commit.
     */
    public <T extends @Nullable Object> T inOneStatement(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            return work.run(new Tx(connection));
        } catch (SQLException failure) {
            throw translate(failure);
        }
    }

    private static void rollback(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException second) {
            failure.addSuppressed(second);
        }
    }

    private static SpaceException translate(SQLException failure) {
        String state = failure.getSQLState() == null ? "" : failure.getSQLState();
        // Classes: 08 connection, 53 resources, 57 operator intervention and time-out, 40 conflict.
        boolean passes =
                state.isEmpty()
                        || state.startsWith("08")
                        || state.startsWith("53")
                        || state.startsWith("57")
                        || state.startsWith("40");
        return passes
                ? new SpaceException(
                        ErrorCode.UNAVAILABLE, "the database does not answer; try again", failure)
                : new SpaceException(
                        ErrorCode.INTERNAL, "the database refused a statement: " + state, failure);
    }

    /** One open transaction. */
    public static final class Tx {
        private final Connection connection;

        Tx(Connection connection) {
            this.connection = connection;
        }

        /** Runs a write and answers how many rows it touched. */
        public int update(String sql, @Nullable Object... arguments) throws SQLException {
            try (PreparedStatement statement = prepare(sql, arguments)) {
                return statement.executeUpdate();
            }
        }

        /** The first row, if there is one. */
        public <T> Optional<T> first(String sql, Row<T> row, @Nullable Object... arguments)
                throws SQLException {
            try (PreparedStatement statement = prepare(sql, arguments);
                    ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Optional.of(row.read(rows)) : Optional.empty();
            }
        }

        /** Every row; the statement carries its own LIMIT. */
        public <T> List<T> all(String sql, Row<T> row, @Nullable Object... arguments)
                throws SQLException {
            try (PreparedStatement statement = prepare(sql, arguments);
                    ResultSet rows = statement.executeQuery()) {
                List<T> result = new ArrayList<>();
                while (rows.next()) {
                    result.add(row.read(rows));
                }
                return result;
            }
        }

        private PreparedStatement prepare(String sql, @Nullable Object... arguments)
                throws SQLException {
            PreparedStatement statement = connection.prepareStatement(sql);
            try {
                statement.setQueryTimeout(STATEMENT_SECONDS_MAX);
                for (int i = 0; i < arguments.length; i++) {
                    bind(statement, i + 1, arguments[i]);
                }
                return statement;
            } catch (SQLException failure) {
                statement.close();
                throw failure;
            }
        }

        private void bind(PreparedStatement statement, int index, @Nullable Object value)
                throws SQLException {
            switch (value) {
                case null -> statement.setNull(index, java.sql.Types.NULL);
                case Instant instant ->
                        statement.setObject(
                                index, OffsetDateTime.ofInstant(instant, ZoneOffset.UTC));
                case Enum<?> constant -> statement.setString(index, constant.name());
                case dev.space.model.Id id -> statement.setString(index, id.value());
                case String[] texts ->
                        statement.setArray(index, connection.createArrayOf("text", texts));
                case byte[] bytes -> statement.setBytes(index, bytes);
                case Blob blob -> statement.setBytes(index, blob.bytes());
                default -> statement.setObject(index, value);
            }
        }
    }

    /** A timestamp column as an instant; null stays null. */
    public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime value = row.getObject(column, OffsetDateTime.class);
        return value == null ? null : value.toInstant();
    }
}
