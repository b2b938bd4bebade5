package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.Durability;
import dev.space.model.SessionId;
import dev.space.model.SnapshotKind;
import dev.space.model.SnapshotReason;
import dev.space.service.auth.Caller;
import dev.space.service.command.SnapshotRemoval;
import dev.space.store.view.EventEntity;
import dev.space.store.view.SnapshotEntity;
import dev.space.store.view.Views;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What is recorded of a session: its operations, snapshots and events. */
@Path("/v1/sessions/{id}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Records")
@RunOnVirtualThread
public class RecordsResource {
    private final Caller caller;
    private final Answers answers;
    private final Views.Operations operations;
    private final Views.Snapshots snapshots;
    private final Views.Events events;
    private final SnapshotRemoval removal;

    @Inject
    public RecordsResource(
            Caller caller,
            Answers answers,
            Views.Operations operations,
            Views.Snapshots snapshots,
            Views.Events events,
            SnapshotRemoval removal) {
        this.caller = caller;
        this.answers = answers;
        this.operations = operations;
        this.snapshots = snapshots;
        this.events = events;
        this.removal = removal;
    }

    /** Operations, newest first. */
    @Schema(name = "OperationList")
    public record OperationList(List<OperationView> operations) {}

    /** Snapshots, newest first. */
    @Schema(name = "SnapshotList")
    public record SnapshotList(List<SnapshotView> snapshots) {}

    /** Events, oldest first, with where to go on. */
    @Schema(name = "EventList")
    public record EventList(List<EventView> events, @Nullable String cursor) {}

    /** A snapshot that is left. */
    @Schema(name = "Snapshot")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record SnapshotView(
            String id,
            String session,
            SnapshotKind kind,
            Durability durability,
            @Nullable String node,
            long epoch,
            long stop,
            @Schema(description = "Size of its files; most of it is shared with other snapshots")
                    long bytes,
            @Nullable String name,
            SnapshotReason reason,
            @Schema(
                            description =
                                    "NOT_QUIESCED: the workload (FULL) or the file system (DISK)"
                                            + " was not held still for it")
                    List<String> marks,
            @Nullable Instant pinnedUntil,
            Instant takenAt,
            @Nullable StoredView stored) {
        private static final String NOT_QUIESCED = "NOT_QUIESCED";

        static SnapshotView of(SnapshotEntity row) {
            return new SnapshotView(
                    row.id,
                    row.sessionId,
                    row.kind,
                    row.durability,
                    row.nodeId,
                    row.epoch,
                    row.stop,
                    row.bytes,
                    row.name,
                    row.reason,
                    Boolean.FALSE.equals(row.quiesced) ? List.of(NOT_QUIESCED) : List.of(),
                    row.pinnedUntil,
                    row.takenAt,
                    StoredView.of(row));
        }
    }

    /** What the object store has of a snapshot. */
    @Schema(name = "Stored")
    public record StoredView(
            @Schema(description = "Bytes that are kept for it, shared ones included")
                    long bytesStored,
            @Schema(description = "Bytes that had to be sent") long bytesUploaded,
            @Nullable Instant at) {

        static @Nullable StoredView of(SnapshotEntity row) {
            return row.bytesStored == null || row.bytesUploaded == null
                    ? null
                    : new StoredView(row.bytesStored, row.bytesUploaded, row.storedAt);
        }
    }

    /** Who did what, why and when. */
    @Schema(name = "Event")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record EventView(
            long id,
            Instant at,
            String actor,
            String action,
            String object,
            String outcome,
            String reason,
            @Nullable Long epoch,
            @Nullable String node) {
        static EventView of(EventEntity row) {
            return new EventView(
                    row.id,
                    row.at,
                    row.actor,
                    row.action,
                    row.object,
                    row.outcome,
                    row.reason,
                    row.epoch,
                    row.nodeId);
        }
    }

    @GET
    @Path("operations")
    @Operation(summary = "Operations of a session, newest first")
    public OperationList operations(
            @PathParam("id") String id, @QueryParam("limit") @Nullable String limit) {
        SessionId session = owned(id);
        return new OperationList(
                operations.ofSession(session.value(), Requests.limit(limit)).stream()
                        .map(OperationView::of)
                        .toList());
    }

    @GET
    @Path("snapshots")
    @Operation(summary = "Snapshots of a session, newest first")
    public SnapshotList snapshots(
            @PathParam("id") String id, @QueryParam("limit") @Nullable String limit) {
        SessionId session = owned(id);
        return new SnapshotList(
                snapshots.ofSession(session.value(), Requests.limit(limit)).stream()
                        .map(SnapshotView::of)
                        .toList());
    }

    @DELETE
    @Path("snapshots/{snapshot}")
    @Operation(summary = "Delete a snapshot; SNAPSHOT_IN_USE where the session stands on it")
    @APIResponse(responseCode = "204", description = "It is listed no more")
    public void deleteSnapshot(@PathParam("id") String id, @PathParam("snapshot") String snapshot) {
        SessionId session = owned(id);
        removal.delete(session, Requests.snapshot(snapshot), caller.actor());
    }

    @GET
    @Path("events")
    @Operation(summary = "Events of a session, oldest first")
    public EventList events(
            @PathParam("id") String id,
            @QueryParam("limit") @Nullable String limit,
            @QueryParam("cursor") @Nullable String cursor) {
        SessionId session = owned(id);
        int max = Requests.limit(limit);
        long after = cursor == null ? 0 : Requests.number("cursor", cursor, 0, Long.MAX_VALUE);
        List<EventView> page =
                events.ofSession(session.value(), after, max).stream().map(EventView::of).toList();
        return new EventList(page, page.size() == max ? String.valueOf(page.getLast().id()) : null);
    }

    private SessionId owned(String id) {
        SessionId session = Requests.session(id);
        answers.session(caller.project(), session);
        return session;
    }
}
