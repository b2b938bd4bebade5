package dev.space.verification.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The API as a client in another language would use it. Thread-safe. */
final class Rest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration CALL_MAX = Duration.ofSeconds(130);
    private static final Duration INSIST_MAX = Duration.ofMinutes(3);
    private static final long RETRY_NANOS = Duration.ofMillis(300).toNanos();

    /** Answers after which the same call is sent again, as a careful client does. */
    private static final Set<Integer> TRY_AGAIN = Set.of(429, 500, 502, 503, 504);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;
    private final String key;

    Rest(String base, String key) {
        this.base = base;
        this.key = key;
    }

    /** A status and a body. */
    record Answer(int status, String text, HttpHeaders headers) {

        boolean ok() {
            return status < 300;
        }

        JsonNode json() throws IOException {
            return JSON.readTree(text);
        }

        Answer demand() {
            if (!ok()) {
                throw new AssertionError("the API answered " + status + ": " + text);
            }
            return this;
        }
    }

    Answer call(String method, String path, @Nullable Object body, String idempotencyKey)
            throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base + path))
                        .timeout(CALL_MAX)
                        .header("Authorization", "Bearer " + key)
                        .header("Content-Type", "application/json")
                        .method(
                                method,
                                body == null
                                        ? BodyPublishers.noBody()
                                        : BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
        if (!method.equals("GET")) {
            request.header("Idempotency-Key", idempotencyKey);
        }
        try {
            HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
            return new Answer(answer.statusCode(), answer.body(), answer.headers());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** Sends the same call with the same key until there is a definite answer. */
    Answer insist(String method, String path, @Nullable Object body) throws IOException {
        String idempotencyKey = UUID.randomUUID().toString();
        long deadline = System.nanoTime() + INSIST_MAX.toNanos();
        while (true) {
            String last;
            try {
                Answer answer = call(method, path, body, idempotencyKey);
                if (!TRY_AGAIN.contains(answer.status())) {
                    return answer;
                }
                last = answer.status() + " " + answer.text();
            } catch (IOException e) {
                last = e.toString();
            }
            if (System.nanoTime() > deadline) {
                throw new IOException(method + " " + path + " has no answer; last: " + last);
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    JsonNode get(String path) throws IOException {
        return insist("GET", path, null).demand().json();
    }

    Answer create() throws IOException {
        return insist(
                "POST",
                "/v1/sessions?wait=120",
                Map.of("template", Platform.TEMPLATE, "size", Platform.SIZE));
    }

    String created() throws IOException {
        return create().demand().json().path("id").asText();
    }

    /** Pause, resume, checkpoint, recover. */
    Answer command(String session, String verb) throws IOException {
        return insist("POST", "/v1/sessions/" + session + "/" + verb + "?wait=120", Map.of());
    }

    Answer rollback(String session, String snapshot) throws IOException {
        return insist(
                "POST",
                "/v1/sessions/" + session + "/rollback?wait=120",
                Map.of("snapshot", snapshot));
    }

    JsonNode fork(String session, int children) throws IOException {
        return fork(session, Map.of("count", children, "env", Map.of("FORKED", "yes")));
    }

    JsonNode fork(String session, int children, String snapshot) throws IOException {
        return fork(session, Map.of("count", children, "snapshot", snapshot));
    }

    private JsonNode fork(String session, Map<String, Object> body) throws IOException {
        return insist("POST", "/v1/sessions/" + session + "/fork?wait=120", body).demand().json();
    }

    void destroy(String session) throws IOException {
        insist("DELETE", "/v1/sessions/" + session + "?wait=120", null).demand();
    }

    JsonNode session(String session) throws IOException {
        return get("/v1/sessions/" + session);
    }

    String state(String session) throws IOException {
        return session(session).path("state").asText();
    }

    /** The items of a list, which come in an object under their own name. */
    List<JsonNode> list(String path) throws IOException {
        List<JsonNode> items = new ArrayList<>();
        for (JsonNode field : get(path)) {
            if (field.isArray()) {
                field.forEach(items::add);
            }
        }
        return items;
    }

    /** Standard output of a shell line that must succeed. */
    String shell(String session, String line) throws IOException {
        return shell(session, Map.of("command", line));
    }

    String shellAsRoot(String session, String line) throws IOException {
        return shell(session, Map.of("command", line, "user", "root"));
    }

    private String shell(String session, Map<String, String> line) throws IOException {
        JsonNode answer = insist("POST", "/v1/sessions/" + session + "/exec", line).demand().json();
        if (answer.path("exitCode").asInt(-1) != 0) {
            throw new AssertionError("`" + line + "` in " + session + ": " + answer);
        }
        return answer.path("stdout").asText();
    }

    /** Starts a shell line in the background; its process id. */
    String background(String session, String line) throws IOException {
        JsonNode started =
                insist("POST", "/v1/sessions/" + session + "/processes", Map.of("command", line))
                        .demand()
                        .json();
        return started.path("processId").asText(started.path("id").asText());
    }

    JsonNode process(String session, String process) throws IOException {
        return get("/v1/sessions/" + session + "/processes/" + process);
    }

    /** All output of a process until now. */
    String output(String session, String process) throws IOException {
        return insist(
                        "GET",
                        "/v1/sessions/%s/processes/%s/output?stream=stdout&offset=0"
                                .formatted(session, process),
                        null)
                .demand()
                .text();
    }
}
