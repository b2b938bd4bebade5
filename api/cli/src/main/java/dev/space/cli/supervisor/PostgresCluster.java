package dev.space.cli.supervisor;

import dev.space.cli.platform.Command;
import dev.space.cli.platform.Owned;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.Secrets;
import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The embedded PostgreSQL's data directory, role and database. It is ready only when it promises
 * what the platform builds on: an acknowledged commit survives a power loss.
 */
final class PostgresCluster {

    static final String DATABASE = "space";
    private static final Duration INITDB_MAX = Duration.ofMinutes(2);
    private static final List<String> MUST_BE_ON =
            List.of("fsync", "synchronous_commit", "full_page_writes");

    private final Platform platform;
    private final User user;
    private final int port;
    private final Path superuserPassword;
    private final Path databasePassword;

    PostgresCluster(
            Platform platform, User user, int port, Path superuserPassword, Path databasePassword) {
        this.platform = platform;
        this.user = user;
        this.port = port;
        this.superuserPassword = superuserPassword;
        this.databasePassword = databasePassword;
    }

    Path data() {
        return platform.data().resolve("postgres/data");
    }

    /** Makes the cluster if there is none; a half-made one of a killed run is thrown away. */
    void init() {
        Path parent = Owned.directory(platform.data().resolve("postgres"), user, "rwx------");
        if (Files.exists(data().resolve("PG_VERSION"))) {
            return;
        }
        Path next = parent.resolve("data.new");
        Path password =
                Owned.secret(parent.resolve("pw"), user, Secrets.read(superuserPassword) + "\n");
        List<String> argv = new ArrayList<>(Launcher.asUser(user, List.of()));
        argv.addAll(
                List.of(
                        platform.postgres().resolve("bin/initdb").toString(),
                        "--pgdata=" + next,
                        "--username=postgres",
                        "--pwfile=" + password,
                        "--auth=scram-sha-256",
                        "--encoding=UTF8",
                        "--no-locale"));
        try {
            var _ = Command.must(INITDB_MAX, "rm", "-rf", next.toString());
            Command.Result made = Command.run(INITDB_MAX, argv, Map.of("LANG", "C.UTF-8"));
            if (!made.ok()) {
                throw new PlatformException("initdb failed: " + made.output());
            }
            Files.move(next, data());
            Files.delete(password);
        } catch (IOException e) {
            throw new PlatformException("cannot make " + data() + ": " + e.getMessage(), e);
        }
    }

    List<String> argv(Path sockets) {
        return List.of(
                platform.postgres().resolve("bin/postgres").toString(),
                "-D",
                data().toString(),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "port=" + port,
                "-c",
                "unix_socket_directories=" + sockets,
                "-c",
                "unix_socket_permissions=0700",
                "-c",
                "fsync=on",
                "-c",
                "synchronous_commit=on",
                "-c",
                "full_page_writes=on",
                "-c",
                "max_connections=120",
                "-c",
                "shared_buffers=128MB",
                "-c",
                "jit=off",
                "-c",
                "password_encryption=scram-sha-256");
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + DATABASE;
    }

    Optional<String> whyNot() {
        Properties login = new Properties();
        login.setProperty("user", "postgres");
        login.setProperty("password", Secrets.read(superuserPassword));
        login.setProperty("connectTimeout", "2");
        login.setProperty("socketTimeout", "5");
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
        try (Connection db = DriverManager.getConnection(url, login)) {
            for (String setting : MUST_BE_ON) {
                String value = one(db, "SHOW " + setting);
                if (!value.equals("on")) {
                    return Optional.of("PostgreSQL runs with " + setting + "=" + value);
                }
            }
            ensureDatabase(db);
            return Optional.empty();
        } catch (SQLException e) {
            return Optional.of("PostgreSQL: " + e.getMessage());
        }
    }

    private void ensureDatabase(Connection db) throws SQLException {
        if (one(db, "SELECT count(*) FROM pg_roles WHERE rolname = 'space'").equals("0")) {
            // The password is hex of our own making: nothing to quote, and it is in no log because
            // statement logging is off.
            execute(
                    db,
                    "CREATE ROLE space LOGIN PASSWORD '" + Secrets.read(databasePassword) + "'");
        }
        if (one(db, "SELECT count(*) FROM pg_database WHERE datname = 'space'").equals("0")) {
            execute(db, "CREATE DATABASE space OWNER space");
        }
    }

    private static String one(Connection db, String sql) throws SQLException {
        try (Statement statement = db.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            if (!rows.next()) {
                throw new SQLException("no row: " + sql);
            }
            return String.valueOf(rows.getString(1));
        }
    }

    private static void execute(Connection db, String sql) throws SQLException {
        try (Statement statement = db.createStatement()) {
            var _ = statement.execute(sql);
        }
    }
}
