package dev.space.store.view;

import dev.space.model.SessionState;
import io.quarkus.hibernate.orm.panache.PanacheRepositoryBase;
import io.quarkus.panache.common.Page;
import io.quarkus.panache.common.Sort;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The repositories behind the API's read side; every list is bounded by its caller's limit. */
public final class Views {
    private Views() {}

    /** Sessions of a project. */
    @Singleton
    public static class Sessions implements PanacheRepositoryBase<SessionEntity, String> {
        /** Another project's session is as absent as one that never was. */
        public Optional<SessionEntity> of(String project, String id) {
            return find("id = ?1 and projectId = ?2", id, project).firstResultOptional();
        }

        /**
         * Newest first. The cursor is the last id of the page before; {@code labelsJson} must be
         * contained in the session's labels.
         */
        @SuppressWarnings("unchecked") // JPA's native queries are untyped; the class is given.
        public List<SessionEntity> list(
                String project,
                @Nullable SessionState state,
                @Nullable String labelsJson,
                @Nullable String cursor,
                int limit) {
            return getEntityManager()
                    .createNativeQuery(LIST, SessionEntity.class)
                    .setParameter("project", project)
                    .setParameter("state", state == null ? "" : state.name())
                    .setParameter("labels", labelsJson == null ? "{}" : labelsJson)
                    .setParameter("cursor", cursor == null ? "" : cursor)
                    .setMaxResults(limit)
                    .getResultList();
        }

        /** Every project's sessions that are not destroyed, by id; for the operator. */
        public List<SessionEntity> ofAllProjects(@Nullable String cursor, int limit) {
            return find(
                            "state <> ?1 and id > ?2",
                            Sort.ascending("id"),
                            SessionState.DESTROYED,
                            cursor == null ? "" : cursor)
                    .page(Page.ofSize(limit))
                    .list();
        }

        private static final String LIST =
                """
                SELECT s.*, (SELECT n.lease_until < now() FROM nodes n WHERE n.id = s.node_id)
                    AS nodeAway
                FROM sessions s WHERE project_id = :project
                    AND (:state = '' AND state <> 'DESTROYED' OR state = :state)
                    AND labels @> cast(:labels AS jsonb)
                    AND (:cursor = '' OR (created_at, id) <
                        (SELECT created_at, id FROM sessions WHERE id = :cursor))
                ORDER BY created_at DESC, id DESC
                """;
    }

    /** Operations. */
    @Singleton
    public static class Operations implements PanacheRepositoryBase<OperationEntity, String> {
        public List<OperationEntity> ofSession(String session, int limit) {
            return find("sessionId", Sort.descending("requestedAt"), session)
                    .page(Page.ofSize(limit))
                    .list();
        }
    }

    /** Snapshots. */
    @Singleton
    public static class Snapshots implements PanacheRepositoryBase<SnapshotEntity, String> {
        public List<SnapshotEntity> ofSession(String session, int limit) {
            return find(
                            "sessionId = ?1 and state = 'LISTED'",
                            Sort.descending("epoch", "stop"),
                            session)
                    .page(Page.ofSize(limit))
                    .list();
        }

        public Optional<SnapshotEntity> listed(String session, String snapshot) {
            return find("id = ?1 and sessionId = ?2 and state = 'LISTED'", snapshot, session)
                    .firstResultOptional();
        }
    }

    /** Events. */
    @Singleton
    public static class Events implements PanacheRepositoryBase<EventEntity, Long> {
        /** Begins the actions of the network gateway's records. */
        public static final String EGRESS = "egress.";

        /** The gateway's records of a session, newest first. */
        public List<EventEntity> egress(String session, int limit) {
            return find("sessionId = ?1 and action like 'egress.%'", Sort.descending("id"), session)
                    .page(Page.ofSize(limit))
                    .list();
        }

        public List<EventEntity> ofSession(String session, long after, int limit) {
            return find("sessionId = ?1 and id > ?2", Sort.ascending("id"), session, after)
                    .page(Page.ofSize(limit))
                    .list();
        }
    }

    /** Nodes. */
    @Singleton
    public static class Nodes implements PanacheRepositoryBase<NodeEntity, String> {}

    /** Templates. */
    @Singleton
    public static class Templates implements PanacheRepositoryBase<TemplateEntity, String> {}

    /** Projects. */
    @Singleton
    public static class Projects implements PanacheRepositoryBase<ProjectEntity, String> {}
}
