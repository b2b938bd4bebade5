package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.store.CredentialRows.Asker;
import dev.space.store.CredentialRows.Credential;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Which session may use which credential. Each change counts as one of what the session may reach:
 * its version grows, so that the machinery that tells gateways of policies tells them of this too.
 */
@Singleton
public class GrantRows {
    private static final String ACTOR = "platform";

    /** Lives and dies with both; the earlier end counts. */
    private static final String ALIVE =
            "(g.expires_at IS NULL OR g.expires_at > now())"
                    + " AND (c.expires_at IS NULL OR c.expires_at > now())";

    private final Db db;

    @Inject
    public GrantRows(Db db) {
        this.db = db;
    }

    /** One grant as people see it. */
    public record Grant(
            String credentialId,
            String name,
            long version,
            @Nullable Instant expires,
            String grantedBy,
            Instant granted) {

        private static Grant read(ResultSet row) throws SQLException {
            return new Grant(
                    row.getString("id"),
                    row.getString("name"),
                    row.getLong("version"),
                    Db.instant(row, "ends_at"),
                    row.getString("granted_by"),
                    Objects.requireNonNull(Db.instant(row, "granted_at")));
        }
    }

    /** The session's grants that are alive; fails for another project's session. */
    public List<Grant> list(Asker asker, SessionId session) {
        return db.inOneStatement(tx -> {
            var _ = own(tx, asker, session, "");
            return grants(tx, session);
        });
    }

    private static List<Grant> grants(Db.Tx tx, SessionId session) throws SQLException {
        return tx.all(
                "SELECT c.id, c.name, c.version, least(g.expires_at, c.expires_at) AS ends_at,"
                        + " g.granted_by, g.granted_at FROM session_grants g JOIN credentials c"
                        + " ON c.id = g.credential_id WHERE g.session_id = ? AND "
                        + ALIVE
                        + " ORDER BY c.name",
                Grant::read,
                session);
    }

    /**
     * Grants what the name means now, until a time or until it is taken back. The same again
     * changes nothing; another end replaces the old one; so does another credential of that name.
     */
    public Grant grant(Asker asker, SessionId session, String name, @Nullable Instant expires) {
        return db.inTransaction(tx -> {
            lockAlive(tx, asker, session);
            Credential credential =
                    CredentialRows.nearest(tx, asker, name, null)
                            .orElseThrow(() ->
                                    new SpaceException(
                                            ErrorCode.NOT_FOUND, "there is no credential " + name));
            int replaced =
                    tx.update(
                            "DELETE FROM session_grants g USING credentials c WHERE"
                                    + " g.session_id = ? AND c.id = g.credential_id"
                                    + " AND c.name = ? AND c.id <> ?",
                            session,
                            name,
                            credential.id());
            int changed =
                    tx.update(
                            """
                            INSERT INTO session_grants (session_id, credential_id, expires_at,
                                granted_by)
                            VALUES (?, ?, ?, ?)
                            ON CONFLICT (session_id, credential_id) DO UPDATE SET
                                expires_at = EXCLUDED.expires_at,
                                granted_by = EXCLUDED.granted_by, granted_at = now()
                            WHERE session_grants.expires_at IS DISTINCT FROM EXCLUDED.expires_at
                            """,
                            session,
                            credential.id(),
                            expires,
                            asker.actor());
            if (changed + replaced > 0) {
                requireRoom(tx, session);
                bumpOne(tx, session);
                CredentialRows.event(tx, asker, session, "grant_credential", name);
            }
            return grants(tx, session).stream()
                    .filter(g -> g.credentialId().equals(credential.id()))
                    .findFirst()
                    .orElseThrow(() ->
                            new SpaceException(
                                    ErrorCode.INVALID_ARGUMENT,
                                    "credential " + name + " expired; set it anew"));
        });
    }

    private static void requireRoom(Db.Tx tx, SessionId session) throws SQLException {
        long there =
                tx.first(
                                "SELECT count(*) FROM session_grants WHERE session_id = ?",
                                row -> row.getLong(1),
                                session)
                        .orElseThrow();
        if (there > CredentialGrants.GRANTS_MAX) {
            throw new SpaceException(
                    ErrorCode.LIMIT_EXCEEDED,
                    "a session has at most " + CredentialGrants.GRANTS_MAX + " grants");
        }
    }

    /** Takes a grant back, whoever the credential of that name is; false where there was none. */
    public boolean revoke(Asker asker, SessionId session, String name) {
        return db.inTransaction(tx -> {
            lockAlive(tx, asker, session);
            int gone =
                    tx.update(
                            "DELETE FROM session_grants g USING credentials c WHERE"
                                    + " g.session_id = ? AND c.id = g.credential_id AND c.name = ?",
                            session,
                            name);
            if (gone > 0) {
                bumpOne(tx, session);
                CredentialRows.event(tx, asker, session, "revoke_credential", name);
            }
            return gone > 0;
        });
    }

    private static SessionRow own(Db.Tx tx, Asker asker, SessionId session, String lock)
            throws SQLException {
        return tx.first(
                        "SELECT " + SessionRow.COLUMNS + " FROM sessions WHERE id = ?" + lock,
                        SessionRow::read,
                        session)
                .filter(row -> row.project().equals(asker.project()))
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + session));
    }

    private static void lockAlive(Db.Tx tx, Asker asker, SessionId session) throws SQLException {
        SessionRow row = own(tx, asker, session, " FOR UPDATE");
        if (row.tombstone() != null || row.state() == SessionState.DESTROYED) {
            throw new SpaceException(ErrorCode.GONE, "session " + session + " was destroyed");
        }
    }

    /** For a node: all that the session may use, with what only a gateway can open. */
    static String json(Db.Tx tx, String session) throws SQLException {
        return new CredentialGrants(
                        tx.all(
                                "SELECT c.id, coalesce(c.project_id, c.organisation_id) AS scope,"
                                        + " c.version, c.name, c.used_for, c.sealed, c.vault_path,"
                                        + " c.vault_version, ceil(extract(epoch FROM"
                                        + " least(g.expires_at, c.expires_at)))::bigint AS ends"
                                        + " FROM session_grants g"
                                        + " JOIN credentials c ON c.id = g.credential_id WHERE"
                                        + " g.session_id = ? AND "
                                        + ALIVE,
                                GrantRows::forGateway,
                                session))
                .toJson();
    }

    private static CredentialGrant forGateway(ResultSet row) throws SQLException {
        long ends = row.getLong("ends");
        OptionalLong expires = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(ends);
        String sealed = row.getString("sealed");
        return new CredentialGrant(
                row.getString("id"),
                row.getString("scope"),
                row.getLong("version"),
                row.getString("name"),
                CredentialUse.parse(row.getString("used_for")),
                expires,
                sealed == null
                        ? new Material.Vault(
                                row.getString("vault_path"), row.getLong("vault_version"))
                        : new Material.Sealed(sealed));
    }

    private static void bumpOne(Db.Tx tx, SessionId session) throws SQLException {
        tx.update(
                "UPDATE sessions SET network_version = network_version + 1 WHERE id = ?", session);
    }

    /** Every session that has the credential: in one order, so that two changes cannot deadlock. */
    static void bump(Db.Tx tx, String credential) throws SQLException {
        tx.update(
                """
                UPDATE sessions SET network_version = network_version + 1
                FROM (SELECT s.id FROM sessions s JOIN session_grants g ON g.session_id = s.id
                    WHERE g.credential_id = ? AND s.state <> 'DESTROYED'
                    ORDER BY s.id FOR UPDATE OF s) AS mine
                WHERE sessions.id = mine.id
                """,
                credential);
    }

    /** A session whose grant ended. */
    private record Ended(String session, String project, String name) {}

    /**
     * Takes away what expired, and tells the gateways, which knew the time themselves: so this may
     * be late. Answers how many grants ended.
     */
    public int expire(int max) {
        return db.inTransaction(tx -> {
            List<Ended> ended =
                    tx.all(
                            """
                            DELETE FROM session_grants WHERE (session_id, credential_id) IN (
                                SELECT g.session_id, g.credential_id FROM session_grants g
                                JOIN sessions s ON s.id = g.session_id
                                WHERE g.expires_at <= now() ORDER BY s.id LIMIT ?
                                FOR UPDATE OF s SKIP LOCKED)
                            RETURNING session_id, (SELECT project_id FROM sessions
                                WHERE id = session_id) AS project,
                                (SELECT name FROM credentials WHERE id = credential_id) AS name
                            """,
                            row ->
                                    new Ended(
                                            row.getString("session_id"),
                                            row.getString("project"),
                                            row.getString("name")),
                            max);
            for (Ended each : ended) {
                SessionId session = new SessionId(each.session());
                bumpOne(tx, session);
                Asker platform = new Asker("", each.project(), ACTOR);
                CredentialRows.event(tx, platform, session, "grant_expired", each.name());
            }
            return ended.size() + expireCredentials(tx, max);
        });
    }

    private static int expireCredentials(Db.Tx tx, int max) throws SQLException {
        List<String> ended =
                tx.all(
                        "UPDATE credentials SET expiry_told = true WHERE id IN (SELECT id FROM"
                                + " credentials WHERE expires_at <= now() AND NOT expiry_told"
                                + " ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED) RETURNING id",
                        row -> row.getString(1),
                        max);
        for (String credential : ended) {
            bump(tx, credential);
            tx.update(
                    "INSERT INTO events (project_id, actor, action, object, outcome)"
                            + " SELECT project_id, ?, 'credential_expired', name, 'OK'"
                            + " FROM credentials WHERE id = ?",
                    ACTOR,
                    credential);
        }
        return ended.size();
    }
}
