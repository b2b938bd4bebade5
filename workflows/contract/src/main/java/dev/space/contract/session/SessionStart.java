package dev.space.contract.session;

import dev.space.model.Ids;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import dev.space.model.SessionId;
import dev.space.model.Size;
import org.jspecify.annotations.Nullable;

/**
 * What a session's workflow starts with.
 *
 * @param template name of the template, for people and the search attribute
 * @param templateDigest what is started
 * @param maxProcesses user processes that may run at once
 * @param deadline null when the session has none
 * @param idle null when idleness has no effect
 * @param recovery null means {@link RecoveryPolicy#DEFAULT}
 * @param restored true when the reconciler starts the workflow of an existing session again: the
 *     workflow then reads the session's row first
 * @param record what continue-as-new hands over; null for everybody else
 * @param ahead true when the workflow is started before anybody asked for its session: what it
 *     starts with comes with the Update that creates (or destroys) the session
 */
public record SessionStart(
        SessionId session,
        OrganisationId organisation,
        ProjectId project,
        String template,
        String templateDigest,
        Size size,
        int maxProcesses,
        @Nullable DeadlinePolicy deadline,
        @Nullable PolicyAction idle,
        @Nullable RecoveryPolicy recovery,
        boolean restored,
        @Nullable SessionRecord record,
        boolean ahead) {

    private static final byte[] NOBODY = new byte[Ids.RANDOM_BYTES];

    /** Of a session that nobody has asked for yet. */
    public static SessionStart ahead(SessionId session) {
        return new SessionStart(
                session,
                new OrganisationId(Ids.text(OrganisationId.PREFIX, NOBODY)),
                new ProjectId(Ids.text(ProjectId.PREFIX, NOBODY)),
                "",
                "",
                Size.XS,
                1,
                null,
                null,
                null,
                false,
                null,
                true);
    }

    /** The same session going on in a new run. */
    public SessionStart continuedWith(SessionRecord handedOver) {
        return new SessionStart(
                session,
                organisation,
                project,
                template,
                templateDigest,
                size,
                maxProcesses,
                deadline,
                idle,
                recovery,
                false,
                handedOver,
                false);
    }
}
