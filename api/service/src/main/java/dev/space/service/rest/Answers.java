package dev.space.service.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.RepairStore;
import dev.space.store.RequestStore;
import dev.space.store.RequestStore.IdempotencyKey;
import dev.space.store.RequestStore.Requested;
import dev.space.store.view.Views;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers of lifecycle commands, kept for whoever sends the same request again. */
@Singleton
public class Answers {
    private final Views.Sessions sessions;
    private final RepairStore rows;
    private final RequestStore requests;
    private final ObjectMapper json;

    @Inject
    public Answers(
            Views.Sessions sessions, RepairStore rows, RequestStore requests, ObjectMapper json) {
        this.sessions = sessions;
        this.rows = rows;
        this.requests = requests;
        this.json = json;
    }

    /** The session as it is now, or 404. */
    public SessionView session(String project, SessionId id) {
        sessions.getEntityManager().clear();
        return sessions.of(project, id.value())
                .map(SessionView::of)
                .orElseThrow(
                        () -> new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + id));
    }

    /** The session after its operation, or 202 with the operation when nobody waited. */
    public Response of(
            Requested requested,
            String project,
            int status,
            Duration wait,
            @Nullable IdempotencyKey key) {
        return of(
                requested,
                status,
                wait,
                key,
                () -> new Shown(session(project, requested.session()), true));
    }

    /**
     * What a caller is shown.
     *
     * @param isFinal it is kept for whoever sends the same request again
     */
    record Shown(Object view, boolean isFinal) {}

    /** As above, with another view of what the operation led to. */
    Response of(
            Requested requested,
            int status,
            Duration wait,
            @Nullable IdempotencyKey key,
            Supplier<Shown> view) {
        Blob stored = requested.answerBody();
        if (stored != null) {
            return Response.status(requested.answerStatus())
                    .type(MediaType.APPLICATION_JSON_TYPE)
                    .entity(stored.bytes())
                    .build();
        }
        if (wait.isZero()) {
            return Response.status(202)
                    .entity(
                            OperationView.of(
                                    rows.operation(requested.operation()).orElseThrow(), null))
                    .build();
        }
        Shown shown = view.get();
        if (key != null && shown.isFinal()) {
            remember(key, status, shown.view());
        }
        return Response.status(status).entity(shown.view()).build();
    }

    /** After the answer, so that the caller does not wait for it; a lost one is computed again. */
    private void remember(IdempotencyKey key, int status, Object view) {
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        requests.storeAnswer(
                                key.project(), key.key(), status, json.writeValueAsBytes(view));
                    } catch (JsonProcessingException impossible) {
                        throw new IllegalStateException(impossible);
                    }
                });
    }
}
