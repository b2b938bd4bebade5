package dev.space.service.problem;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.Command;
import dev.space.model.ErrorCode;
import dev.space.model.Instead;
import dev.space.model.SessionState;
import dev.space.model.SnapshotId;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An error answer (RFC 9457). */
@Schema(description = "An error: what happened, and where it helps, what the state allows.")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Problem(
        String type,
        String title,
        int status,
        String detail,
        ErrorCode code,
        @Nullable SessionState state,
        @Nullable List<String> allowed,
        @Nullable String operation,
        @Nullable @Schema(description = "A snapshot to roll back to where one is damaged.")
                String instead) {

    static Problem of(ErrorCode code, String detail) {
        return new Problem(
                "urn:space:error:" + code.name(),
                code.summary(),
                code.httpStatus(),
                detail,
                code,
                null,
                null,
                null,
                Instead.offered(code, detail).map(SnapshotId::value).orElse(null));
    }

    /** The same with what a caller may do instead. */
    public Problem with(SessionState at, List<Command> commands) {
        return new Problem(
                type,
                title,
                status,
                detail,
                code,
                at,
                commands.stream().map(Commands::wireName).toList(),
                operation,
                instead);
    }

    /** Where HTTP has a status of its own for what the catalogue has one code for. */
    Problem withStatus(int other) {
        return new Problem(type, title, other, detail, code, state, allowed, operation, instead);
    }

    Problem with(String operationId) {
        return new Problem(type, title, status, detail, code, state, allowed, operationId, instead);
    }
}
