package dev.space.service.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What comes in is bounded and checked before anything is done with it. */
class RequestsTest {
    private final JsonBodies bodies = new JsonBodies(new ObjectMapper());

    @Test
    void aFlagIsTrueOrFalseAndNothingElse() {
        assertThat(Requests.flag("recursive", null)).isFalse();
        assertThat(Requests.flag("recursive", "false")).isFalse();
        assertThat(Requests.flag("recursive", "true")).isTrue();
        for (String other : List.of("", "yes", "1", "TRUE")) {
            refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.flag("recursive", other));
        }
    }

    @Test
    void bodyIsBoundedBeforeItIsParsed() {
        ByteArrayInputStream tooLong =
                new ByteArrayInputStream(new byte[Limits.JSON_BODY_BYTES_MAX + 10_000]);
        refused(ErrorCode.BODY_TOO_LARGE, () -> bodies.read(tooLong, CreateSession.class));
        assertThat(tooLong.available()).as("the rest is never read").isPositive();
    }

    @Test
    void unknownFieldNamesItsNeighbour() {
        assertThatThrownBy(() -> read("{\"templat\":\"default\"}"))
                .hasMessageContaining("did you mean template");
        refused(ErrorCode.INVALID_ARGUMENT, () -> read("{\"template\":[1]}"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> read("{} trailing"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> read("null"));
        assertThat(read("").template()).isNull();
    }

    @Test
    void hashTellsBodiesAndPathsApart() {
        Blob one = JsonBodies.hash(new byte[] {1}, "POST", "/a");
        assertThat(one).isEqualTo(JsonBodies.hash(new byte[] {1}, "POST", "/a"));
        assertThat(one).isNotEqualTo(JsonBodies.hash(new byte[] {2}, "POST", "/a"));
        assertThat(one).isNotEqualTo(JsonBodies.hash(new byte[] {1}, "POST", "/b"));
        assertThat(JsonBodies.hash(new byte[0], "ab", "c"))
                .isNotEqualTo(JsonBodies.hash(new byte[0], "a", "bc"));
    }

    @Test
    void fieldsAreChecked() {
        refused(ErrorCode.UNKNOWN_TEMPLATE, () -> template("defalt"));
        refused(ErrorCode.UNKNOWN_TEMPLATE, () -> template("../x"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> template(null));
        assertThat(template("default")).isEqualTo("default");
        refused(
                ErrorCode.UNKNOWN_SIZE,
                () ->
                        new CreateSession("d", "huge", null, null, null, null, null, null, null)
                                .checkedSize());
        refused(ErrorCode.INVALID_ARGUMENT, () -> CreateSession.checkEnv(Map.of("A=B", "x")));
        refused(ErrorCode.INVALID_ARGUMENT, () -> CreateSession.checkEnv(Map.of("A", "x\0y")));
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () ->
                        CreateSession.checkEnv(
                                Map.of("A", "x".repeat(Limits.PROCESS_SPEC_BYTES_MAX))));
    }

    @Test
    void environmentNeverAppearsInARefusal() {
        assertThatThrownBy(() -> CreateSession.checkEnv(Map.of("1BAD", "canary-value")))
                .hasMessageNotContaining("canary-value");
    }

    @Test
    void waitIsBounded() {
        assertThat(Requests.wait(null)).isEqualTo(Duration.ofMinutes(1));
        assertThat(Requests.wait("0")).isEqualTo(Duration.ZERO);
        refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.wait("301"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.wait("-1"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.wait("soon"));
        refused(ErrorCode.NOT_FOUND, () -> Requests.session("../x"));
        Blob hash = JsonBodies.hash(new byte[0]);
        refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.key("a b", "prj", hash));
        refused(ErrorCode.INVALID_ARGUMENT, () -> Requests.key("", "prj", hash));
    }

    @Test
    void pathsAreBytesBothWays() {
        ByteString raw = ByteString.copyFrom(new byte[] {'/', (byte) 0xff, '+', ' ', '%', 'a'});
        assertThat(GuestPaths.encode(raw)).isEqualTo("/%FF%2B%20%25a");
        refused(ErrorCode.INVALID_ARGUMENT, () -> GuestPaths.of("a\0b"));
        refused(ErrorCode.INVALID_ARGUMENT, () -> GuestPaths.of("x".repeat(5000)));
    }

    @Test
    void rangesFollowTheRfc() {
        ByteRange middle = range("bytes=2-4");
        assertThat(middle.begin(10)).isEqualTo(2);
        assertThat(middle.end(10)).isEqualTo(5);
        assertThat(range("bytes=7-").end(10)).isEqualTo(10);
        assertThat(range("bytes=-3").begin(10)).isEqualTo(7);
        assertThat(range("bytes=-30").begin(10)).isZero();
        assertThat(ByteRange.parse("bytes=1-2,4-5", null)).isNull();
        assertThat(ByteRange.parse("bytes=5-2", null)).isNull();
        assertThat(ByteRange.parse("bytes=0-0", "\"x\"")).as("If-Range never holds").isNull();
        refused(ErrorCode.RANGE_NOT_SATISFIABLE, () -> range("bytes=10-").begin(10));
    }

    @Test
    void exactlyOneOfArgvAndCommand() {
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> ProcessRequests.check(null, null, null, null, null));
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> ProcessRequests.check(List.of("a"), "b", null, null, null));
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () -> ProcessRequests.check(List.of("a"), null, null, null, "Root;"));
        refused(
                ErrorCode.INVALID_ARGUMENT,
                () ->
                        ProcessRequests.check(
                                null, "x".repeat(Limits.PROCESS_SPEC_BYTES_MAX), null, null, null));
    }

    private CreateSession read(String json) {
        return bodies.read(
                        new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)),
                        CreateSession.class)
                .value();
    }

    private static String template(@Nullable String name) {
        return new CreateSession(name, null, null, null, null, null, null, null, null)
                .checkedTemplate(List.of("default", "minimal"));
    }

    private static ByteRange range(String header) {
        return java.util.Objects.requireNonNull(ByteRange.parse(header, null));
    }

    private static void refused(ErrorCode code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SpaceException.class, e -> assertThat(e.code()).isEqualTo(code));
    }
}
