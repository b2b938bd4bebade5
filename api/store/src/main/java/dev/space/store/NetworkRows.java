package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What sessions may reach. Not a lifecycle matter: no fence, no operation, in every state. */
@Singleton
public class NetworkRows {
    private final Db db;

    @Inject
    public NetworkRows(Db db) {
        this.db = db;
    }

    /**
     * What a session may reach.
     *
     * @param version grows with each change; 0 when there never was one
     * @param policy canonical JSON; null: nothing
     */
    public record Network(long version, @Nullable String policy) {
        private static Network read(ResultSet row) throws SQLException {
            return new Network(row.getLong("network_version"), row.getString("network"));
        }
    }

    /** With where its sandbox runs, when it does. */
    public record Placed(Network network, boolean running, @Nullable String node, long epoch) {}

    /** Empty for another project's session, and where there is none. */
    public Optional<Network> of(String project, SessionId session) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT network, network_version FROM sessions"
                                + " WHERE id = ? AND project_id = ?",
                        Network::read,
                        session,
                        project));
    }

    /** For a node that the session is on, or is being started on; empty for every other. */
    public Optional<Network> forNode(SessionId session, String node) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT network, network_version FROM sessions WHERE id = ? AND node_id = ?"
                                + " AND state <> ? AND tombstone_at IS NULL",
                        Network::read,
                        session,
                        node,
                        SessionState.DESTROYED));
    }

    /** Sets it and records who did; the same policy again changes nothing. */
    public Placed set(String project, SessionId session, String policy, String actor) {
        return db.inTransaction(tx -> {
            SessionRow row = RequestStore.own(tx, project, session);
            if (row.tombstone() != null || row.state() == SessionState.DESTROYED) {
                throw new SpaceException(ErrorCode.GONE, "session " + session + " was destroyed");
            }
            int changed =
                    tx.update(
                            "UPDATE sessions SET network = ?, network_version = network_version + 1"
                                    + " WHERE id = ? AND network IS DISTINCT FROM ?",
                            policy,
                            session,
                            policy);
            Network now =
                    tx.first(
                                    "SELECT network, network_version FROM sessions WHERE id = ?",
                                    Network::read,
                                    session)
                            .orElseThrow();
            if (changed > 0) {
                tx.update(
                        """
                        INSERT INTO events (project_id, session_id, actor, action, object, outcome)
                        VALUES (?, ?, ?, 'set_network', ?, 'OK')
                        """,
                        project,
                        session,
                        actor,
                        "version " + now.version());
            }
            boolean running = row.state() == SessionState.RUNNING;
            return new Placed(now, running, row.node(), row.epoch());
        });
    }
}
