package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.NearestKey;
import dev.space.model.Size;
import dev.space.model.SpaceException;
import dev.space.store.SessionPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The request to create a session; checks every field. */
@Schema(name = "CreateSession", requiredProperties = "template")
public record CreateSession(
        @Nullable String template,
        @Nullable String size,
        @Nullable Map<String, String> labels,
        @Nullable Map<String, String> env,
        @Nullable Deadline deadline,
        @Nullable Boolean autoResume,
        @Nullable Idle idle,
        @Nullable DurabilityPolicy durability,
        @Schema(type = SchemaType.OBJECT) @Nullable Map<String, Object> network) {

    /** Shortest times: below them the policies would only be at work on themselves. */
    private static final long IDLE_SECONDS_MIN = 10;

    private static final long DURABLE_SECONDS_MIN = 30;

    /** Longest time of a policy: a year. */
    private static final long POLICY_SECONDS_MAX = 31_536_000;

    /** Longest deadline: ten years. */
    private static final long DEADLINE_SECONDS_MAX = 315_360_000;

    private static final Set<String> ACTIONS = Set.of("pause", "suspend", "destroy");
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");
    private static final Pattern LABEL_KEY = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]*");
    private static final Pattern ENV_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** What happens after a time. */
    @Schema(name = "Deadline")
    public record Deadline(@Nullable Long afterSeconds, @Nullable String action) {

        Instant at(Clock clock) {
            if (afterSeconds == null || afterSeconds < 1 || afterSeconds > DEADLINE_SECONDS_MAX) {
                throw invalid("deadline.afterSeconds is from 1 to " + DEADLINE_SECONDS_MAX);
            }
            return clock.instant().plusSeconds(afterSeconds);
        }

        String checkedAction() {
            String given = action == null ? "pause" : action;
            if (!ACTIONS.contains(given)) {
                throw invalid("deadline.action is pause, suspend or destroy");
            }
            return given.toUpperCase(Locale.ROOT);
        }
    }

    /** What happens when nothing happens in it. */
    @Schema(name = "Idle")
    public record Idle(@Nullable Long afterSeconds, @Nullable String action) {

        Long checkedSeconds() {
            return CreateSession.checkedSeconds(
                    "idle.afterSeconds", afterSeconds, IDLE_SECONDS_MIN);
        }

        String checkedAction() {
            String given = action == null ? "pause" : action;
            if (!ACTIONS.contains(given)) {
                throw invalid("idle.action is pause, suspend or destroy");
            }
            return given.toUpperCase(Locale.ROOT);
        }
    }

    /** How often it is stored while it runs. */
    @Schema(name = "DurabilityPolicy")
    public record DurabilityPolicy(@Nullable Long everySeconds) {

        Long checkedSeconds() {
            return CreateSession.checkedSeconds(
                    "durability.everySeconds", everySeconds, DURABLE_SECONDS_MIN);
        }
    }

    SessionPolicy checkedPolicy() {
        return new SessionPolicy(
                durability == null ? null : durability.checkedSeconds(),
                idle == null ? null : idle.checkedSeconds(),
                idle == null ? null : idle.checkedAction());
    }

    private static Long checkedSeconds(String field, @Nullable Long seconds, long min) {
        if (seconds == null || seconds < min || seconds > POLICY_SECONDS_MAX) {
            throw invalid(field + " is from " + min + " to " + POLICY_SECONDS_MAX);
        }
        return seconds;
    }

    /** The name, where it has the form of one; only such a name is looked up. */
    Optional<String> wellFormedTemplate() {
        return Optional.ofNullable(template).filter(name -> NAME.matcher(name).matches());
    }

    String checkedTemplate(List<String> published) {
        if (template == null || template.isEmpty()) {
            throw invalid("template is missing; published are: " + published);
        }
        if (!NAME.matcher(template).matches() || !published.contains(template)) {
            String near =
                    NearestKey.of(template, published)
                            .map(n -> "; did you mean " + n + "?")
                            .orElse("");
            String known =
                    published.isEmpty()
                            ? "; none is published yet"
                            : (near.isEmpty() ? "; published are: " : " Published are: ")
                                    + String.join(", ", published);
            throw new SpaceException(
                    ErrorCode.UNKNOWN_TEMPLATE,
                    "no template " + printable(template) + near + known);
        }
        return template;
    }

    Size checkedSize() {
        String name = size == null ? Size.SMALL.wireName() : size;
        List<String> known = Arrays.stream(Size.values()).map(Size::wireName).toList();
        return Size.fromWireName(name)
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.UNKNOWN_SIZE,
                                "no size "
                                        + printable(name)
                                        + "; did you mean "
                                        + NearestKey.of(name, known).orElseThrow()
                                        + "? Sizes are "
                                        + known));
    }

    Map<String, String> checkedLabels() {
        return checkLabels(labels == null ? Map.of() : labels);
    }

    /** Of a session, or of a filter: what no session can have is refused there too. */
    static Map<String, String> checkLabels(Map<String, String> given) {
        if (given.size() > Limits.LABELS_MAX) {
            throw invalid("a session has at most " + Limits.LABELS_MAX + " labels");
        }
        given.forEach((key, value) -> {
            if (!LABEL_KEY.matcher(key).matches() || key.length() > Limits.LABEL_CHARS_MAX) {
                throw invalid(
                        "label "
                                + printable(key)
                                + ": a key is letters, digits and ._/- with at most "
                                + Limits.LABEL_CHARS_MAX
                                + " characters");
            }
            if (value == null || value.length() > Limits.LABEL_CHARS_MAX) {
                throw invalid(
                        "label "
                                + key
                                + ": a value has at most "
                                + Limits.LABEL_CHARS_MAX
                                + " characters");
            }
            if (value.chars().anyMatch(Character::isISOControl)) {
                throw invalid("label " + key + ": a value has no control characters");
            }
        });
        return given;
    }

    Map<String, String> checkedEnv() {
        return checkEnv(env);
    }

    /** Names the variable that is wrong, never its value. */
    static Map<String, String> checkEnv(@Nullable Map<String, String> env) {
        Map<String, String> given = env == null ? Map.of() : env;
        if (given.size() > Limits.ENV_MAX) {
            throw invalid("env has at most " + Limits.ENV_MAX + " variables");
        }
        long bytes = 0;
        for (Map.Entry<String, String> variable : given.entrySet()) {
            String value = variable.getValue();
            if (!ENV_NAME.matcher(variable.getKey()).matches()) {
                throw invalid(
                        "env "
                                + printable(variable.getKey())
                                + ": a name is letters, digits and _ and begins with no digit");
            }
            if (value == null || value.indexOf('\0') >= 0) {
                throw invalid("env " + variable.getKey() + ": a value is text without NUL");
            }
            bytes += variable.getKey().length();
            bytes += value.getBytes(StandardCharsets.UTF_8).length + 2L;
        }
        if (bytes > Limits.PROCESS_SPEC_BYTES_MAX) {
            throw invalid("env has at most " + Limits.PROCESS_SPEC_BYTES_MAX + " bytes");
        }
        return given;
    }

    @Nullable Instant deadlineAt(Clock clock) {
        return deadline == null ? null : deadline.at(clock);
    }

    @Nullable String deadlineAction() {
        return deadline == null ? null : deadline.checkedAction();
    }

    static SpaceException invalid(String detail) {
        return new SpaceException(ErrorCode.INVALID_ARGUMENT, detail);
    }

    /** Safe to show: what a caller sent, short and without control characters. */
    static String printable(String text) {
        String shown = text.length() > 64 ? text.substring(0, 64) + "..." : text;
        StringBuilder out = new StringBuilder("\"");
        shown.chars().forEach(c -> out.append(Character.isISOControl(c) ? '?' : (char) c));
        return out.append('"').toString();
    }
}
