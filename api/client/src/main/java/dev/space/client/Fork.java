package dev.space.client;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a fork made. Fields that a newer platform adds are ignored. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Fork(String operation, String session, String snapshot, List<Child> children) {

    /**
     * One session that was made.
     *
     * @param creation DONE, FAILED, or how far it is
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Child(String id, String state, String creation, @Nullable Failure error) {}

    /** Why a child could not be made. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Failure(String code, String detail) {}
}
