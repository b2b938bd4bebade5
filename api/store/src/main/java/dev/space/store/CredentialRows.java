package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Credentials as rows. A secret comes here sealed, and leaves only inside the grants of a session
 * for the node on which that runs ({@link GrantRows}).
 */
@Singleton
public class CredentialRows {
    /** Credentials of one project, and of an organisation besides. */
    public static final int CREDENTIALS_MAX = 1000;

    private static final String COLUMNS =
            "id, organisation_id, project_id, name, version, used_for, owner, expires_at,"
                    + " rotate_after, created_at, set_at, set_by, (SELECT count(*) FROM"
                    + " session_grants g WHERE g.credential_id = credentials.id) AS sessions";

    /** Those that a project can see: its own, and its organisation's. */
    private static final String SEEN =
            " FROM credentials WHERE organisation_id = ? AND (project_id = ? OR project_id IS NULL)";

    private final Db db;

    @Inject
    public CredentialRows(Db db) {
        this.db = db;
    }

    /** Whose they are. */
    public enum Scope {
        ORGANISATION,
        PROJECT
    }

    /** Who asks. */
    public record Asker(String organisation, String project, String actor) {

        /** Id of the owner in a scope. */
        public String id(Scope scope) {
            return scope == Scope.PROJECT ? project : organisation;
        }
    }

    /** What is known of one; not its secret. */
    public record Credential(
            String id,
            Scope scope,
            String name,
            long version,
            String usedFor,
            String owner,
            @Nullable Instant expires,
            @Nullable Instant rotateAfter,
            Instant created,
            Instant set,
            String setBy,
            long sessions) {

        private static Credential read(ResultSet row) throws SQLException {
            return new Credential(
                    row.getString("id"),
                    row.getString("project_id") == null ? Scope.ORGANISATION : Scope.PROJECT,
                    row.getString("name"),
                    row.getLong("version"),
                    row.getString("used_for"),
                    row.getString("owner"),
                    Db.instant(row, "expires_at"),
                    Db.instant(row, "rotate_after"),
                    Objects.requireNonNull(Db.instant(row, "created_at")),
                    Objects.requireNonNull(Db.instant(row, "set_at")),
                    row.getString("set_by"),
                    row.getLong("sessions"));
        }
    }

    /** What is to be. */
    public record Setting(
            Scope scope,
            String name,
            CredentialUse use,
            String owner,
            @Nullable Instant expires,
            @Nullable Instant rotateAfter) {}

    /** Puts the secret where only gateways get at it. */
    @FunctionalInterface
    public interface Sealing {
        Material seal(String scope, String id, long version);
    }

    /**
     * Makes it, or gives it a new secret and all else anew.
     *
     * @param newId its id if there was none
     */
    public Credential set(Asker asker, Setting setting, String newId, Sealing sealing) {
        return db.inTransaction(tx -> {
            String scope = asker.id(setting.scope());
            // One after another for each owner: names are unique and their number is bounded.
            tx.first("SELECT pg_advisory_xact_lock(hashtextextended(?, 1))", row -> true, scope);
            Optional<Credential> old =
                    own(tx, asker, setting.scope(), setting.name(), " FOR UPDATE");
            if (old.isEmpty()) {
                requireRoom(tx, asker, setting.scope());
            }
            String id = old.map(Credential::id).orElse(newId);
            long version = old.map(Credential::version).orElse(0L) + 1;
            write(tx, asker, setting, id, version, sealing.seal(scope, id, version));
            String what = setting.scope() + " " + setting.name() + " version " + version;
            event(tx, asker, null, "set_credential", what);
            GrantRows.bump(tx, id);
            return own(tx, asker, setting.scope(), setting.name(), "").orElseThrow();
        });
    }

    private static void requireRoom(Db.Tx tx, Asker asker, Scope scope) throws SQLException {
        long there =
                tx.first(
                                "SELECT count(*) FROM credentials WHERE organisation_id = ?"
                                        + " AND project_id IS NOT DISTINCT FROM ?",
                                row -> row.getLong(1),
                                asker.organisation(),
                                scope == Scope.PROJECT ? asker.project() : null)
                        .orElseThrow();
        if (there >= CREDENTIALS_MAX) {
            throw new SpaceException(
                    ErrorCode.LIMIT_EXCEEDED,
                    "there are " + there + " credentials already; delete one first");
        }
    }

    private static void write(
            Db.Tx tx, Asker asker, Setting setting, String id, long version, Material material)
            throws SQLException {
        Material.@Nullable Vault vault = material instanceof Material.Vault v ? v : null;
        tx.update(
                """
                INSERT INTO credentials (id, organisation_id, project_id, name, version, used_for,
                    sealed, vault_path, vault_version, owner, expires_at, rotate_after, set_by)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version,
                    used_for = EXCLUDED.used_for, sealed = EXCLUDED.sealed,
                    vault_path = EXCLUDED.vault_path, vault_version = EXCLUDED.vault_version,
                    owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at,
                    rotate_after = EXCLUDED.rotate_after, expiry_told = false, set_at = now(),
                    set_by = EXCLUDED.set_by
                """,
                id,
                asker.organisation(),
                setting.scope() == Scope.PROJECT ? asker.project() : null,
                setting.name(),
                version,
                setting.use().toJson(),
                material instanceof Material.Sealed(String base64) ? base64 : null,
                vault == null ? null : vault.path(),
                vault == null ? null : vault.version(),
                setting.owner(),
                setting.expires(),
                setting.rotateAfter(),
                asker.actor());
    }

    /** Those that the project can see, by name; a project's before its organisation's. */
    public List<Credential> list(Asker asker) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT " + COLUMNS + SEEN + " ORDER BY name, project_id NULLS LAST",
                        Credential::read,
                        asker.organisation(),
                        asker.project()));
    }

    /** The one that the name means: the project's, else the organisation's. */
    public Optional<Credential> find(Asker asker, String name, @Nullable Scope scope) {
        return db.inOneStatement(tx -> nearest(tx, asker, name, scope));
    }

    static Optional<Credential> nearest(Db.Tx tx, Asker asker, String name, @Nullable Scope scope)
            throws SQLException {
        if (scope != null) {
            return own(tx, asker, scope, name, "");
        }
        return tx.first(
                "SELECT " + COLUMNS + SEEN + " AND name = ? ORDER BY project_id NULLS LAST LIMIT 1",
                Credential::read,
                asker.organisation(),
                asker.project(),
                name);
    }

    private static Optional<Credential> own(
            Db.Tx tx, Asker asker, Scope scope, String name, String lock) throws SQLException {
        return tx.first(
                "SELECT "
                        + COLUMNS
                        + " FROM credentials WHERE organisation_id = ?"
                        + " AND project_id IS NOT DISTINCT FROM ? AND name = ?"
                        + lock,
                Credential::read,
                asker.organisation(),
                scope == Scope.PROJECT ? asker.project() : null,
                name);
    }

    /** Removes it and every grant of it; empty where there is none. */
    public Optional<Credential> delete(Asker asker, String name, @Nullable Scope scope) {
        return db.inTransaction(tx -> {
            Optional<Credential> found = nearest(tx, asker, name, scope);
            if (found.isPresent()) {
                Credential credential = found.get();
                GrantRows.bump(tx, credential.id());
                tx.update("DELETE FROM credentials WHERE id = ?", credential.id());
                event(
                        tx,
                        asker,
                        null,
                        "delete_credential",
                        credential.scope() + " " + credential.name());
            }
            return found;
        });
    }

    static void event(
            Db.Tx tx, Asker asker, @Nullable SessionId session, String action, String object)
            throws SQLException {
        tx.update(
                "INSERT INTO events (project_id, session_id, actor, action, object, outcome)"
                        + " VALUES (?, ?, ?, ?, ?, 'OK')",
                asker.project(),
                session,
                asker.actor(),
                action,
                object);
    }
}
