package dev.space.client;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A session as the API shows it. Fields that a newer platform adds are ignored. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Session(
        String id,
        String state,
        @Nullable String desired,
        @Nullable String durability,
        @Nullable Durable durable,
        @Nullable String node,
        @Nullable String template,
        @Nullable String size,
        long epoch,
        @Nullable Map<String, String> labels,
        @Nullable String createdAt) {

    /** The newest snapshot that the object store has whole. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Durable(String snapshot, @Nullable String takenAt) {}
}
