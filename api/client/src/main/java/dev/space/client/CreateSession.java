package dev.space.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a new session is made from. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CreateSession(
        String template,
        @Nullable String size,
        @Nullable Map<String, String> labels,
        @Nullable Map<String, String> env) {}
