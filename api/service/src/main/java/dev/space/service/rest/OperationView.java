package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.ErrorCode;
import dev.space.model.Instead;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.SnapshotId;
import dev.space.store.OperationRow;
import dev.space.store.view.OperationEntity;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An operation as the API shows it. */
@Schema(name = "Operation")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OperationView(
        String id,
        String session,
        OperationKind kind,
        OperationState state,
        @Nullable Long number,
        @Nullable Long epoch,
        @Nullable Failure error,
        Instant requestedAt,
        @Nullable Instant acceptedAt,
        @Nullable Instant endedAt,
        @Nullable String step,
        @Nullable List<ForkView.Child> children) {

    /** How it failed. */
    @Schema(name = "OperationFailure")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Failure(
            ErrorCode code,
            String detail,
            @Nullable @Schema(description = "A snapshot to roll back to where one is damaged.")
                    String instead) {}

    static OperationView of(OperationRow row, @Nullable String step) {
        return new OperationView(
                row.id().value(),
                row.session().value(),
                row.kind(),
                row.state(),
                row.number() == 0 ? null : row.number(),
                row.epoch() == 0 ? null : row.epoch(),
                failure(row.error(), row.detail()),
                row.requestedAt(),
                row.acceptedAt(),
                row.endedAt(),
                step,
                null);
    }

    /** A FORK names what it made. */
    OperationView with(List<ForkView.Child> made) {
        return new OperationView(
                id,
                session,
                kind,
                state,
                number,
                epoch,
                error,
                requestedAt,
                acceptedAt,
                endedAt,
                step,
                made);
    }

    static OperationView of(OperationEntity row) {
        return new OperationView(
                row.id,
                row.sessionId,
                row.kind,
                row.state,
                row.number,
                row.epoch,
                failure(row.errorCode, row.errorDetail),
                row.requestedAt,
                row.acceptedAt,
                row.endedAt,
                null,
                null);
    }

    static @Nullable Failure failure(@Nullable ErrorCode code, @Nullable String detail) {
        if (code == null) {
            return null;
        }
        String text = detail == null ? code.summary() : detail;
        String instead = Instead.offered(code, text).map(SnapshotId::value).orElse(null);
        return new Failure(code, text, instead);
    }
}
