package dev.space.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a new session is made from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CreateSession(
        String template,
        @Nullable String size,
        @Nullable Map<String, String> labels,
        @Nullable Map<String, String> env,
        @Nullable Idle idle,
        @Nullable Durability durability,
        @Nullable JsonNode network) {

    /** What happens when nothing happens in it: pause, suspend or destroy. */
    public record Idle(long afterSeconds, String action) {}

    /** How often it is stored while it runs. */
    public record Durability(long everySeconds) {}

    /** Without policies. */
    public CreateSession(
            String template,
            @Nullable String size,
            @Nullable Map<String, String> labels,
            @Nullable Map<String, String> env) {
        this(template, size, labels, env, null, null, null);
    }
}
