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
     * @param grants its credentials for a gateway, as JSON; empty: none
     */
    public record Network(long version, @Nullable String policy, String grants) {

        /** Without credentials. */
        public Network(long version, @Nullable String policy) {
            this(version, policy, "");
        }

        private static Network read(ResultSet row) throws SQLException {
            return new Network(row.getLong("network_version"), row.getString("network"));
        }

        /** After the version: what is newer than it is sent again, what is older never. */
        private Network withGrants(Db.Tx tx, SessionId session) throws SQLException {
            return new Network(version, policy, GrantRows.json(tx, session.value()));
        }

        /** How much there is; what is sealed belongs in no log either. */
        @Override
        public String toString() {
            return "Network(version "
                    + version
                    + ", "
                    + policy
                    + ", grants of "
                    + grants.length()
                    + " characters)";
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
        return db.inOneStatement(tx -> {
            Optional<Network> network =
                    tx.first(
                            "SELECT network, network_version FROM sessions WHERE id = ?"
                                    + " AND node_id = ? AND state <> ? AND tombstone_at IS NULL",
                            Network::read,
                            session,
                            node,
                            SessionState.DESTROYED);
            return network.isEmpty() ? network : Optional.of(network.get().withGrants(tx, session));
        });
    }

    /** The same with where its sandbox runs, for who pushes it; fails for another project's. */
    public Placed placed(String project, SessionId session) {
        return db.inTransaction(tx -> placed(tx, RequestStore.own(tx, project, session)));
    }

    private static Placed placed(Db.Tx tx, SessionRow row) throws SQLException {
        Network now =
                tx.first(
                                "SELECT network, network_version FROM sessions WHERE id = ?",
                                Network::read,
                                row.id())
                        .orElseThrow()
                        .withGrants(tx, row.id());
        return new Placed(now, row.state() == SessionState.RUNNING, row.node(), row.epoch());
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
            Placed now = placed(tx, row);
            if (changed > 0) {
                tx.update(
                        """
                        INSERT INTO events (project_id, session_id, actor, action, object, outcome)
                        VALUES (?, ?, ?, 'set_network', ?, 'OK')
                        """,
                        project,
                        session,
                        actor,
                        "version " + now.network().version());
            }
            return now;
        });
    }
}
