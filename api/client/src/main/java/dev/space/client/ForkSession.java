package dev.space.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a fork is asked for.
 *
 * @param snapshot null: what is there now
 * @param labels laid over the source's
 * @param env laid over the source's
 * @param inheritGrants whether children may use its credentials; null: they may not
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ForkSession(
        int count,
        @Nullable String snapshot,
        @Nullable Map<String, String> labels,
        @Nullable Map<String, String> env,
        @Nullable Boolean inheritGrants) {

    /** Without the source's credentials. */
    public ForkSession(
            int count,
            @Nullable String snapshot,
            @Nullable Map<String, String> labels,
            @Nullable Map<String, String> env) {
        this(count, snapshot, labels, env, null);
    }
}
