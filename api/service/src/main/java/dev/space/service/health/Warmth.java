package dev.space.service.health;

import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SubmitCommand;
import dev.space.model.ErrorCode;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.service.command.IdSource;
import dev.space.service.command.SessionWorkflows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/**
 * Pays for the classes of the first Update-With-Start (half a second) before traffic comes: a
 * session without a row is created, which its workflow refuses as NOT_FOUND and ends.
 */
@Singleton
public class Warmth {
    private static final Logger LOG = Logger.getLogger(Warmth.class);

    private final SessionWorkflows workflows;
    private final IdSource ids;
    private final AtomicBoolean warm = new AtomicBoolean();

    @Inject
    public Warmth(SessionWorkflows workflows, IdSource ids) {
        this.workflows = workflows;
        this.ids = ids;
    }

    /** One whole round through the workflow server and a worker. */
    public void warmUp() {
        SessionId session = ids.session();
        var answer =
                workflows.create(
                        new SessionStart(
                                session,
                                new OrganisationId(ids.text(OrganisationId.PREFIX)),
                                new ProjectId(ids.text(ProjectId.PREFIX)),
                                "warm-up",
                                "",
                                Size.XS,
                                1,
                                null,
                                null,
                                null,
                                false,
                                null,
                                false),
                        SubmitCommand.create(ids.operation()));
        if (answer.error() != ErrorCode.NOT_FOUND) {
            throw new SpaceException(ErrorCode.INTERNAL, "warm-up answered " + answer.verdict());
        }
        LOG.debugf("warmed up with %s", session);
        warm.set(true);
    }

    public boolean isWarm() {
        return warm.get();
    }
}
