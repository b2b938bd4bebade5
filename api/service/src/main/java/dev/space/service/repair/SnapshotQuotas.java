package dev.space.service.repair;

import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.service.config.SpaceConfig;
import dev.space.store.QuotaRows;
import dev.space.store.QuotaRows.Excess;
import dev.space.store.SnapshotRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Bounds what sessions and projects keep of what operations made: beyond it the oldest go that
 * nobody named and nothing stands on. A session that is paused and resumed for months would
 * otherwise fill its node. Their nodes are told when they are compared ({@link SnapshotAudit}).
 */
@Singleton
public class SnapshotQuotas {
    /** Sessions that are looked at each time, and projects. */
    private static final int SESSIONS_MAX = 500;

    private static final int PROJECTS_MAX = 20;

    /** Removed at one look, of sessions and of each project. */
    private static final int REMOVED_MAX = 100;

    private static final Logger LOG = Logger.getLogger(SnapshotQuotas.class);

    private final QuotaRows rows;
    private final SnapshotRows snapshots;
    private final int perSession;
    private final int perProject;
    private final long bytesPerProject;
    private String session = "";
    private String project = "";

    @Inject
    public SnapshotQuotas(QuotaRows rows, SnapshotRows snapshots, SpaceConfig config) {
        this.rows = rows;
        this.snapshots = snapshots;
        this.perSession = config.control().snapshotsPerSession();
        this.perProject = config.control().snapshotsPerProject();
        this.bytesPerProject = config.control().storedMibPerProject() << 20;
    }

    /** A page of sessions and a page of projects, each all in turn. */
    void look() {
        List<SessionId> page = rows.sessions(session, SESSIONS_MAX);
        session = page.size() < SESSIONS_MAX ? "" : page.getLast().value();
        remove(rows.ofSessions(page, perSession, REMOVED_MAX));
        List<String> projects = rows.projects(project, PROJECTS_MAX);
        project = projects.size() < PROJECTS_MAX ? "" : projects.getLast();
        for (String each : projects) {
            remove(rows.ofProject(each, perProject, REMOVED_MAX));
            if (bytesPerProject > 0) {
                remove(rows.storedByProject(each, bytesPerProject, REMOVED_MAX));
            }
        }
    }

    private void remove(List<Excess> excess) {
        for (Excess each : excess) {
            try {
                var _ = snapshots.delete(each.session(), each.snapshot(), "platform", "QUOTA");
            } catch (SpaceException inUse) {
                // Since it was looked for something stands on it, or its session is gone.
                LOG.debugf("%s stays: %s", each.snapshot(), inUse.getMessage());
            }
        }
    }
}
