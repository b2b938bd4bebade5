package dev.space.store;

import dev.space.model.SessionId;
import dev.space.model.SessionState;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where a session's sandbox runs: what the edge of the data plane asks and then caches. */
@Singleton
public class RouteStore {
    private final Db db;

    @Inject
    public RouteStore(Db db) {
        this.db = db;
    }

    /**
     * The way to a sandbox.
     *
     * @param inFlight an operation is in flight, so waiting may help
     * @param envEncrypted the session's environment; never logged, never in a payload
     */
    public record Route(
            SessionId session,
            String project,
            SessionState state,
            long epoch,
            @Nullable String node,
            @Nullable String address,
            boolean autoResume,
            boolean tombstoned,
            @Nullable String inFlight,
            @Nullable Blob envEncrypted) {}

    public Optional<Route> find(SessionId session) {
        return db.inOneStatement(tx ->
                tx.first(
                        """
                        SELECT s.project_id, s.state, s.epoch, s.node_id, n.api_address,
                            s.auto_resume, s.tombstone_at IS NOT NULL AS tombstoned,
                            s.operation_id, s.env_encrypted
                        FROM sessions s LEFT JOIN nodes n ON n.id = s.node_id
                        WHERE s.id = ?
                        """,
                        row ->
                                new Route(
                                        session,
                                        row.getString("project_id"),
                                        SessionState.valueOf(row.getString("state")),
                                        row.getLong("epoch"),
                                        row.getString("node_id"),
                                        row.getString("api_address"),
                                        row.getBoolean("auto_resume"),
                                        row.getBoolean("tombstoned"),
                                        row.getString("operation_id"),
                                        Blob.ofColumn(row.getBytes("env_encrypted"))),
                        session));
    }
}
