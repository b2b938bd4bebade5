package dev.space.store;

import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** One PostgreSQL with fsync on for all tests of this JVM, with one project and one node. */
final class TestDatabase {
    static final String DIGEST = "d".repeat(64);
    private static final Supplier<TestDatabase> SHARED =
            new Supplier<>() {
                private final TestDatabase database = new TestDatabase();

                @Override
                public TestDatabase get() {
                    return database;
                }
            };
    private static final SecureRandom RANDOM = new SecureRandom();

    final DataSource source;
    final Db db;
    final String organisation;
    final String project;

    private TestDatabase() {
        try {
            // Closed with the JVM by the library's own shutdown hook.
            EmbeddedPostgres postgres =
                    EmbeddedPostgres.builder()
                            .setServerConfig("fsync", "on")
                            .setServerConfig("synchronous_commit", "on")
                            .setServerConfig("full_page_writes", "on")
                            .start();
            source = postgres.getPostgresDatabase();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        Flyway.configure().dataSource(source).load().migrate();
        db = new Db(source);
        TenantStore tenants = new TenantStore(db);
        tenants.bootstrap(TenantStore.hash("space_test"));
        TenantStore.Caller caller = tenants.find(TenantStore.hash("space_test")).orElseThrow();
        organisation = caller.organisation();
        project = caller.project();
        node("node-a");
    }

    static TestDatabase shared() {
        return SHARED.get();
    }

    void node(String id) {
        new NodeStore(db)
                .register(
                        new NodeStore.Registration(
                                id,
                                "127.0.0.1:1",
                                "fake",
                                "[]",
                                "test",
                                64L << 30,
                                64L << 30,
                                1000,
                                List.of(new NodeStore.Template(DIGEST, "default", List.of("xs")))),
                        Duration.ofHours(1));
    }

    static SessionId newSession() {
        return new SessionId(text("ses"));
    }

    static OperationId newOperation() {
        return new OperationId(text("op"));
    }

    static String text(String prefix) {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return Ids.text(prefix, bytes);
    }

    RequestStore.NewSession session(SessionId id) {
        return new RequestStore.NewSession(
                id,
                organisation,
                project,
                "default",
                DIGEST,
                "xs",
                null,
                "{}",
                null,
                false,
                null,
                null);
    }

    /** Runs a statement as it stands. */
    void execute(String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** First column of the first row as text. */
    String value(String sql, Object... arguments) {
        return db.inTransaction(tx ->
                        tx.first(
                                sql,
                                (ResultSet row) -> String.valueOf(row.getString(1)),
                                arguments))
                .orElse("");
    }
}
