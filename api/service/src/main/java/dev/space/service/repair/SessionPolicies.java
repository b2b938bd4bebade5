package dev.space.service.repair;

import dev.space.contract.session.IdleReport;
import dev.space.contract.session.PolicyAction;
import dev.space.model.SessionId;
import dev.space.service.command.Dispatcher;
import dev.space.service.command.IdSource;
import dev.space.service.command.SessionWorkflows;
import dev.space.store.PolicyRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.jboss.logging.Logger;

/**
 * Asks for what sessions' policies want: that a running one is stored again, that an idle one is
 * paused or suspended. What becomes of it their workflows decide.
 */
@Singleton
public class SessionPolicies {
    /** Stored at one look: uploads share the nodes' disks with the sessions. */
    private static final int STORED_MAX = 8;

    private static final int IDLE_MAX = 100;

    /** A session that changed just now is not idle, whatever its clock says. */
    private static final Duration UNTOUCHED = Duration.ofSeconds(5);

    private static final Logger LOG = Logger.getLogger(SessionPolicies.class);

    private final PolicyRows rows;
    private final Dispatcher dispatcher;
    private final SessionWorkflows workflows;
    private final IdSource ids;

    @Inject
    public SessionPolicies(
            PolicyRows rows, Dispatcher dispatcher, SessionWorkflows workflows, IdSource ids) {
        this.rows = rows;
        this.dispatcher = dispatcher;
        this.workflows = workflows;
        this.ids = ids;
    }

    /** Running sessions whose newest stored snapshot is older than they want. */
    void store() {
        for (SessionId session : rows.toStore(STORED_MAX)) {
            rows.store(session, ids.operation())
                    .ifPresent(row -> {
                        LOG.debugf("storing %s by its policy", session);
                        var _ = dispatcher.send(row);
                    });
        }
    }

    /** Sent again at the next look where nothing came of it; a workflow counts it once. */
    void idle() {
        for (PolicyRows.Idle idle : rows.idle(UNTOUCHED, IDLE_MAX)) {
            workflows.signal(
                    idle.session(),
                    "idle",
                    new IdleReport(
                            idle.epoch(),
                            idle.since().toEpochMilli(),
                            PolicyAction.valueOf(idle.action())));
        }
    }
}
