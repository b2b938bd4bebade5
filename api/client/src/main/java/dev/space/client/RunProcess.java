package dev.space.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A command to run in a sandbox: for exec (run and wait) and for background processes. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunProcess(
        List<String> argv,
        @Nullable Map<String, String> env,
        @Nullable String cwd,
        @Nullable String user,
        @Nullable Long timeoutMillis,
        @Nullable Boolean stdin,
        @Nullable String processId) {

    public static RunProcess of(List<String> argv) {
        return new RunProcess(argv, null, null, null, null, null, null);
    }
}
