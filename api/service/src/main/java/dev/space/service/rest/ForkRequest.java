package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.Limits;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import java.util.Map;
import java.util.TreeMap;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The request to fork a session; checks every field. */
@Schema(name = "ForkRequest")
public record ForkRequest(
        @Schema(description = "sessions to make, 1 to 100; 1 when absent") @Nullable Integer count,
        @Schema(description = "snapshot to continue from; absent: what is there now")
                @Nullable String snapshot,
        @Schema(description = "laid over the source's labels") @Nullable Map<String, String> labels,
        @Schema(description = "laid over the source's environment")
                @Nullable Map<String, String> env,
        @Schema(description = "of each child; absent: the source's, where it is still to come")
                CreateSession.@Nullable Deadline deadline,
        @Schema(description = "whether children may use the credentials that the source may use")
                @Nullable Boolean inheritGrants) {

    int checkedCount() {
        int children = count == null ? 1 : count;
        if (children < 1 || children > Limits.FORK_CHILDREN_MAX) {
            throw CreateSession.invalid("count is from 1 to " + Limits.FORK_CHILDREN_MAX);
        }
        return children;
    }

    @Nullable SnapshotId checkedSnapshot() {
        if (snapshot == null) {
            return null;
        }
        if (!Ids.isValid(SnapshotId.PREFIX, snapshot)) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "there is no snapshot " + CreateSession.printable(snapshot));
        }
        return new SnapshotId(snapshot);
    }

    /** The limits hold for what a child has, so they are checked on both together. */
    Map<String, String> checkedLabels(Map<String, String> source) {
        return CreateSession.checkLabels(over(source, CreateSession.checkLabels(given(labels))));
    }

    Map<String, String> checkedEnv(Map<String, String> source) {
        return CreateSession.checkEnv(over(source, CreateSession.checkEnv(env)));
    }

    private static Map<String, String> given(@Nullable Map<String, String> map) {
        return map == null ? Map.of() : map;
    }

    private static Map<String, String> over(Map<String, String> below, Map<String, String> above) {
        Map<String, String> both = new TreeMap<>(below);
        both.putAll(above);
        return both;
    }
}
