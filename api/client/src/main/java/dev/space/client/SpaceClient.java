package dev.space.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Calls the platform's REST interface with one API key. Every change carries an idempotency key, so
 * a call whose answer was lost can be sent again; this class sends it once more by itself when the
 * connection broke. Thread-safe; keeps no state but the connection pool.
 */
public final class SpaceClient implements AutoCloseable {

    /**
     * Above the longest wait of an operation that the API offers, so that the API answers first.
     */
    private static final Duration CALL_MAX = Duration.ofMinutes(6);

    /**
     * The longest that the API offers: many children start one after another, and the first session
     * of a size waits for its start snapshot.
     */
    private static final String WAIT = "?wait=300";

    private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http;
    private final String base;
    private final String key;

    public SpaceClient(URI base, String key) {
        check(base, key);
        String text = base.toString();
        this.base = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        this.key = key;
        this.http =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .connectTimeout(CONNECT_MAX)
                        // Nothing here does more with an answer than collect it, so the thread that
                        // reads the socket may do it: each hand-over would cost a wake-up.
                        .executor(Runnable::run)
                        .build();
    }

    private static void check(URI base, String key) {
        String scheme = String.valueOf(base.getScheme());
        if (!scheme.matches("(?i)https?") || base.getHost() == null) {
            throw new ApiException(
                    0, "BAD_ADDRESS", base + " is no address of the form http://HOST:PORT");
        }
        if (!key.matches("[\\x21-\\x7e]*")) {
            throw new ApiException(
                    0, "BAD_KEY", "the API key holds spaces or characters that no key has");
        }
    }

    public Session create(CreateSession request) {
        return read(post("/v1/sessions" + WAIT, request), Session.class);
    }

    public Session session(String id) {
        return read(sessionAsJson(id), Session.class);
    }

    /** As {@link #session}, with everything that the API says of it. */
    public JsonNode sessionAsJson(String id) {
        return get("/v1/sessions/" + encode(id));
    }

    /** The newest snapshots of a session, as the API lists them. */
    public JsonNode snapshots(String id) {
        return get("/v1/sessions/" + encode(id) + "/snapshots");
    }

    /** One page of what changed; its {@code cursor} says whether there is another. */
    public JsonNode changes(String id, ChangesQuery query) {
        StringBuilder path = new StringBuilder("/v1/sessions/" + encode(id) + "/changes?hash=");
        path.append(query.hash());
        if (query.from() != null) {
            path.append("&from=").append(encode(query.from()));
        }
        if (query.to() != null) {
            path.append("&to=").append(encode(query.to()));
        }
        if (query.cursor() != null) {
            // It is encoded already: a path as the API shows it.
            path.append("&after=").append(query.cursor());
        }
        return get(path.toString());
    }

    /** What a file of a snapshot is. */
    public JsonNode snapshotFile(String id, String snapshot, String path) {
        return get(snapshotFiles(id, snapshot) + "/stat?path=" + encode(path));
    }

    /**
     * One page of what a directory of a snapshot holds.
     *
     * @param after last path of the page before, as the API showed it
     */
    public JsonNode snapshotFiles(String id, String snapshot, String path, @Nullable String after) {
        return get(
                snapshotFiles(id, snapshot)
                        + "/list?path="
                        + encode(path)
                        + (after == null ? "" : "&after=" + after));
    }

    /** The bytes of a file of a snapshot. */
    public InputStream snapshotContent(String id, String snapshot, String path) {
        return stream(snapshotFiles(id, snapshot) + "?path=" + encode(path)).body();
    }

    private static String snapshotFiles(String id, String snapshot) {
        return "/v1/sessions/" + encode(id) + "/snapshots/" + encode(snapshot) + "/files";
    }

    /** All sessions that are not destroyed, page by page. */
    public List<Session> sessions() {
        return sessionsAsJson().stream().map(item -> read(item, Session.class)).toList();
    }

    /** As {@link #sessions()}, with everything that the API says of each. */
    public List<JsonNode> sessionsAsJson() {
        List<JsonNode> all = new ArrayList<>();
        String cursor = null;
        do {
            String from = cursor == null ? "" : "&cursor=" + encode(cursor);
            JsonNode page = get("/v1/sessions?limit=100" + from);
            JsonNode items = page.isArray() ? page : firstArray(page);
            items.forEach(all::add);
            JsonNode next =
                    page.path("cursor").isMissingNode() ? page.path("next") : page.path("cursor");
            cursor = next.isTextual() ? next.asText() : null;
        } while (cursor != null);
        return all;
    }

    private static JsonNode firstArray(JsonNode page) {
        for (JsonNode field : page) {
            if (field.isArray()) {
                return field;
            }
        }
        return JSON.createArrayNode();
    }

    /** Pause, resume, checkpoint or recover; waits for the operation. */
    public Session command(String id, String verb) {
        return read(post("/v1/sessions/" + encode(id) + "/" + verb + WAIT, null), Session.class);
    }

    /**
     * Back to a snapshot; waits for the operation. The present is kept as a snapshot first.
     *
     * @param acceptLoss go on even where the present cannot be kept
     */
    public Session rollback(String id, String snapshot, boolean acceptLoss) {
        return read(
                post(
                        "/v1/sessions/" + encode(id) + "/rollback" + WAIT,
                        Map.of("snapshot", snapshot, "acceptLoss", acceptLoss)),
                Session.class);
    }

    /** Makes sessions that continue from this one; waits until each runs or has failed. */
    public Fork fork(String id, ForkSession request) {
        return read(post("/v1/sessions/" + encode(id) + "/fork" + WAIT, request), Fork.class);
    }

    /** Makes one session that goes on from a snapshot; waits until it runs or has failed. */
    public Fork restoreAsNew(String id, String snapshot) {
        String path = "/v1/sessions/" + encode(id) + "/snapshots/" + encode(snapshot) + "/restore";
        return read(post(path + WAIT, Map.of()), Fork.class);
    }

    /**
     * Changes a session's policies: {@code idle}, {@code durability}, {@code deadline}, {@code
     * autoResume}. What is not named stays; null ends a policy.
     */
    public Session changePolicies(String id, Map<String, @Nullable Object> policies) {
        HttpRequest.Builder builder =
                request("/v1/sessions/" + encode(id))
                        .header("Content-Type", "application/json")
                        .method("PATCH", BodyPublishers.ofString(write(policies)));
        return read(send(builder, null), Session.class);
    }

    public void deleteSnapshot(String id, String snapshot) {
        String path = "/v1/sessions/" + encode(id) + "/snapshots/" + encode(snapshot);
        send(request(path).DELETE(), null);
    }

    public void destroy(String id) {
        send(request("/v1/sessions/" + encode(id) + WAIT).DELETE(), idempotencyKey());
    }

    /** Runs a command and waits for its end; the answer as it came. */
    public JsonNode exec(String id, RunProcess command) {
        return post("/v1/sessions/" + encode(id) + "/exec", command);
    }

    /** Any other read of the interface, for instance {@code /v1/nodes}. */
    public JsonNode get(String path) {
        return send(request(path).GET(), null);
    }

    /** What a session may reach: {@code version}, and {@code policy} unless that is nothing. */
    public JsonNode network(String id) {
        return get("/v1/sessions/" + encode(id) + "/network");
    }

    /** Changes what a session may reach. */
    public JsonNode setNetwork(String id, JsonNode policy) {
        return put("/v1/sessions/" + encode(id) + "/network", policy);
    }

    /** Any other thing that is set as a whole. */
    public JsonNode put(String path, JsonNode body) {
        return send(request(path).PUT(BodyPublishers.ofString(write(body))), null);
    }

    /** Any other thing that is taken away. */
    public JsonNode delete(String path) {
        return send(request(path).DELETE(), null);
    }

    /** What a session reached and was refused, newest first. */
    public JsonNode networkLog(String id, int limit) {
        return get("/v1/sessions/" + encode(id) + "/network/log?limit=" + limit);
    }

    public JsonNode post(String path, @Nullable Object body) {
        String text = body == null ? "{}" : write(body);
        HttpRequest.Builder builder =
                request(path)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(text));
        return send(builder, idempotencyKey());
    }

    public JsonNode startProcess(String id, RunProcess command) {
        return post("/v1/sessions/" + encode(id) + "/processes", command);
    }

    /** The process now, or at its end when it ends within the wait. */
    public JsonNode process(String id, String process, Duration wait) {
        return get(processPath(id, process) + "?wait=" + wait.toSeconds());
    }

    /**
     * A part of a process's output.
     *
     * @param offset of its first byte: larger than asked for where the oldest is no longer kept
     * @param life for the request that reads on
     */
    public record Output(InputStream bytes, long offset, String life) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            bytes.close();
        }
    }

    /**
     * Output from an offset; without {@code follow} only what is there now.
     *
     * @param life of the answer that ended at the offset: PROCESS_LOST when the session went back
     *     to an earlier moment since; empty: not asked
     */
    public Output output(
            String id, String process, String stream, long offset, String life, boolean follow) {
        String path =
                processPath(id, process)
                        + "/output?stream="
                        + stream
                        + "&offset="
                        + offset
                        + "&follow="
                        + follow
                        + (life.isEmpty() ? "" : "&life=" + encode(life));
        HttpResponse<InputStream> answer = stream(path);
        return new Output(
                answer.body(),
                answer.headers().firstValueAsLong("Space-Output-Offset").orElse(offset),
                answer.headers().firstValue("Space-Output-Life").orElse(""));
    }

    /** An answer of any length, without a time-out of its own. */
    private HttpResponse<InputStream> stream(String path) {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create(base + path))
                        .header("Authorization", "Bearer " + key)
                        .GET();
        HttpResponse<InputStream> answer =
                exchange(builder.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (answer.statusCode() >= 300) {
            throw problem(answer.statusCode(), readAll(answer.body()));
        }
        return answer;
    }

    /**
     * Writes to standard input and answers the offset up to which it was taken: less than all while
     * the process does not read. The same piece at the same offset is written once.
     */
    public long writeStdin(String id, String process, long offset, byte[] bytes, boolean eof) {
        HttpRequest.Builder builder =
                request(processPath(id, process) + "/stdin?offset=" + offset + "&eof=" + eof)
                        .header("Content-Type", "application/octet-stream")
                        .POST(BodyPublishers.ofByteArray(bytes));
        return send(builder, idempotencyKey()).path("offset").asLong(offset + bytes.length);
    }

    public void signal(String id, String process, String signal) {
        post(processPath(id, process) + "/signal", JSON.createObjectNode().put("signal", signal));
    }

    @Override
    public void close() {
        http.shutdownNow();
    }

    private static String processPath(String id, String process) {
        return "/v1/sessions/" + encode(id) + "/processes/" + encode(process);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(CALL_MAX)
                .header("Accept", "application/json")
                .header("Authorization", "Bearer " + key);
    }

    private JsonNode send(HttpRequest.Builder builder, @Nullable String idempotencyKey) {
        if (idempotencyKey != null) {
            builder.header("Idempotency-Key", idempotencyKey);
        }
        HttpRequest request = builder.build();
        HttpResponse<byte[]> answer;
        try {
            answer = exchange(request, HttpResponse.BodyHandlers.ofByteArray());
        } catch (ApiException e) {
            if (!e.code().equals("CONNECTION_LOST")) {
                throw e;
            }
            // The same key makes the second sending harmless whatever became of the first.
            answer = exchange(request, HttpResponse.BodyHandlers.ofByteArray());
        }
        if (answer.statusCode() >= 300) {
            throw problem(answer.statusCode(), answer.body());
        }
        try {
            return answer.body().length == 0
                    ? JSON.createObjectNode()
                    : JSON.readTree(answer.body());
        } catch (IOException e) {
            throw new ApiException(answer.statusCode(), "BAD_ANSWER", "the answer is not JSON");
        }
    }

    private <T> HttpResponse<T> exchange(HttpRequest request, HttpResponse.BodyHandler<T> body) {
        try {
            return http.send(request, body);
        } catch (ConnectException e) {
            throw new ApiException(0, "NOT_REACHABLE", "nothing answers at " + base);
        } catch (IOException e) {
            throw new ApiException(0, "CONNECTION_LOST", "the connection broke: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiException(0, "INTERRUPTED", "the call was interrupted");
        }
    }

    private static ApiException problem(int status, byte[] body) {
        String code = "HTTP_" + status;
        String operation = null;
        String detail = "the API answered " + status;
        try {
            JsonNode problem = JSON.readTree(body);
            code = problem.path("code").asText(code);
            operation = problem.path("operation").asText(null);
            detail = problem.path("detail").asText(problem.path("title").asText(detail));
            if (problem.has("allowed")) {
                detail += " (allowed now: " + problem.path("allowed") + ")";
            }
        } catch (IOException e) {
            // Not a problem document, for instance a proxy's page: the status says what is known.
        }
        return new ApiException(status, code, detail, operation);
    }

    private static byte[] readAll(InputStream in) {
        try (in) {
            return in.readNBytes(1 << 16);
        } catch (IOException e) {
            return new byte[0];
        }
    }

    private static <T> T read(JsonNode node, Class<T> type) {
        try {
            return JSON.treeToValue(node, type);
        } catch (JsonProcessingException e) {
            throw new ApiException(
                    200, "BAD_ANSWER", "unexpected answer: " + e.getOriginalMessage());
        }
    }

    private static String write(Object body) {
        try {
            return JSON.writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot be written as JSON", e);
        }
    }

    /** A part of a path or a query; an empty one would make it another address. */
    public static String encode(String text) {
        if (text.isEmpty()) {
            throw new ApiException(0, "INVALID_ARGUMENT", "a name or an id is empty");
        }
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String idempotencyKey() {
        return UUID.randomUUID().toString();
    }
}
