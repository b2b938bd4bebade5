package dev.space.service.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.model.egress.EgressPolicy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A session's network as callers write it, and as the row has it. */
@Singleton
public class NetworkPolicies {
    private final ObjectMapper json;

    @Inject
    public NetworkPolicies(ObjectMapper json) {
        this.json = json;
    }

    /** Canonical; null where none is given. Names the field that is wrong. */
    @Nullable String canonical(@Nullable Map<String, Object> given) {
        return given == null ? null : EgressPolicy.parse(text(given)).toJson();
    }

    private String text(Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** For an answer. */
    @SuppressWarnings("unchecked") // an object's keys are text
    @Nullable Map<String, Object> shown(@Nullable String canonical) {
        try {
            return canonical == null ? null : json.readValue(canonical, Map.class);
        } catch (JsonProcessingException damaged) {
            throw new IllegalStateException("a stored policy is not JSON", damaged);
        }
    }
}
