package dev.space.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.Limits;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands and files through REST and a whole node, down to a guest in memory. */
class DataPlaneIT extends SharedPlatform {
    private static final String MINIMAL = "{\"template\":\"minimal\"}";

    private static @Nullable WholeNode node;
    private static String path = "";

    @BeforeAll
    static void startNode(@TempDir Path dir) throws Exception {
        if (Platform.temporalBinary().isEmpty()) {
            return;
        }
        node = new WholeNode(p(), dir, "whole-1");
        path = path(create(MINIMAL));
    }

    @AfterAll
    static void stopNode() throws Exception {
        if (node != null) {
            ok(p().delete(path), 200);
            node.close();
        }
    }

    private static JsonNode exec(String fields) throws IOException {
        return ok(p().post(path + "/exec", "{" + fields + "}"), 200);
    }

    private static JsonNode started(String fields) throws IOException {
        return ok(p().post(path + "/processes", "{" + fields + "}"), 201);
    }

    private static void refused(HttpResponse<String> answer, int status, String code)
            throws IOException {
        assertThat(ok(answer, status).get("code").asText()).isEqualTo(code);
    }

    /** Nothing is to be sent while a command is silent: that is no slow body. */
    @Test
    void aSilentCommandIsWaitedFor() throws Exception {
        String seconds = String.valueOf(Limits.HTTP_BODY_GRACE_MILLIS / 1000 + 4);
        String process = started("\"argv\":[\"sleep\",\"" + seconds + "\"]").get("id").asText();
        CompletableFuture<HttpResponse<String>> waiting =
                later(() -> p().get(path + "/processes/" + process + "?wait=60"));
        assertThat(exec("\"command\":\"sleep " + seconds + "; echo end\"").get("stdout").asText())
                .isEqualTo("end\n");
        assertThat(ok(waiting.join(), 200).get("state").asText()).isEqualTo("EXITED");
    }

    /** Nobody waits for a command whose sandbox is gone, and everybody learns why. */
    @Test
    void callsEndWithTheirSandbox() throws Exception {
        for (String end : List.of("DESTROYED", "PAUSED")) {
            JsonNode session = create(MINIMAL);
            String own = path(session);
            String process =
                    ok(p().post(own + "/processes", "{\"argv\":[\"sleep\",\"600\"]}"), 201)
                            .get("id")
                            .asText();
            CompletableFuture<HttpResponse<String>> exec =
                    later(() -> p().post(own + "/exec", "{\"command\":\"sleep 50\"}"));
            CompletableFuture<HttpResponse<String>> waits =
                    later(() -> p().get(own + "/processes/" + process + "?wait=50"));
            p().await(
                            "both run",
                            () ->
                                    ok(p().get(own + "/processes"), 200).get("processes").size()
                                            >= 2);
            String code = "SESSION_" + end;
            if (end.equals("DESTROYED")) {
                ok(p().delete(own), 200);
                code = "GONE";
            } else {
                ok(p().post(own + "/pause", "{}"), 200);
            }
            int status = end.equals("DESTROYED") ? 410 : 409;
            refused(exec.get(20, TimeUnit.SECONDS), status, code);
            refused(waits.get(20, TimeUnit.SECONDS), status, code);
            ok(p().delete(own), 200);
        }
    }

    private static CompletableFuture<HttpResponse<String>> later(
            Supplier<HttpResponse<String>> call) {
        return CompletableFuture.supplyAsync(call, task -> Thread.ofVirtual().start(task));
    }

    @Test
    void resultsTellHowACommandEnded() throws Exception {
        JsonNode both = exec("\"command\":\"echo out; cat nothing\"");
        assertThat(both.get("stdout").asText()).isEqualTo("out\n");
        assertThat(both.get("stderr").asText()).contains("nothing: No such file");
        assertThat(both.get("exitCode").asInt()).isEqualTo(1);
        JsonNode missing = exec("\"argv\":[\"no-such-command\"]");
        assertThat(missing.get("exitCode").asInt()).isEqualTo(127);
        assertThat(missing.get("reason").asText()).isEqualTo("NOT_FOUND");
        JsonNode nowhere = exec("\"command\":\"true\",\"cwd\":\"/not/there\"");
        assertThat(nowhere.get("exitCode").asInt()).isEqualTo(126);
        assertThat(nowhere.get("detail").asText()).contains("directory");
        JsonNode late = exec("\"command\":\"echo first; sleep 60\",\"timeoutMillis\":300");
        assertThat(late.get("reason").asText()).isEqualTo("TIMED_OUT");
        assertThat(late.get("stdout").asText()).isEqualTo("first\n");
        JsonNode typed = exec("\"command\":\"cat\",\"stdin\":\"dHlwZWQ=\",\"encoding\":\"base64\"");
        assertThat(typed.get("stdout").asText()).isEqualTo("dHlwZWQ=");
    }

    @Test
    void whatASessionCostsIsMeasuredOnItsNode() throws Exception {
        JsonNode before = ok(p().get(path + "/storage"), 200);
        assertThat(before.get("node").asText()).isEqualTo("whole-1");
        assertThat(before.get("parts").findValuesAsText("part")).contains("live");
        assertThat(before.get("bytes").asLong()).isPositive();
        ok(p().post(path + "/checkpoint", ""), 200);
        JsonNode after = ok(p().get(path + "/storage"), 200);
        assertThat(after.get("parts")).hasSize(before.get("parts").size() + 1);
        assertThat(after.get("bytes").asLong()).isGreaterThan(before.get("bytes").asLong());
        refused(p().get("/v1/sessions/ses_" + "a".repeat(26) + "/storage"), 404, "NOT_FOUND");
    }

    @Test
    void outputIsReadFromAnOffsetAndFollowed() throws Exception {
        String process =
                path + "/processes/" + started("\"argv\":[\"counter\",\"200\"]").get("id").asText();
        HttpResponse<String> all = p().get(process + "/output?follow=true");
        assertThat(all.body()).startsWith("1\n2\n").endsWith("\n199\n200\n");
        assertThat(all.headers().firstValue("Space-Output-Offset")).hasValue("0");
        HttpResponse<String> rest = p().get(process + "/output?offset=2");
        assertThat(rest.body()).isEqualTo(all.body().substring(2));
        assertThat(rest.headers().firstValue("Space-Output-Offset")).hasValue("2");
        assertThat(p().get(process + "/output?stream=stderr").body()).isEmpty();
        JsonNode ended = ok(p().get(process + "?wait=10"), 200);
        assertThat(ended.get("exitCode").asInt()).isZero();
        assertThat(ended.get("stdoutBytes").asLong()).isEqualTo(all.body().length());
        refused(p().get(process + "/output?stream=both"), 400, "INVALID_ARGUMENT");
        refused(p().get(process + "/output?offset=-1"), 400, "INVALID_ARGUMENT");
        refused(p().get(process + "/output?life=a.b"), 400, "INVALID_ARGUMENT");
        refused(p().get(path + "/processes/none/output"), 404, "PROCESS_NOT_FOUND");
        refused(p().get(path + "/processes/none"), 404, "PROCESS_NOT_FOUND");
    }

    @Test
    void aPieceOfInputIsTakenOnce() throws Exception {
        String process =
                path
                        + "/processes/"
                        + started("\"argv\":[\"cat\"],\"stdin\":true").get("id").asText();
        assertThat(stdin(process + "/stdin?offset=0", "hello ")).isEqualTo(6);
        assertThat(stdin(process + "/stdin?offset=0", "hello ")).isEqualTo(6);
        assertThat(stdin(process + "/stdin?offset=6&eof=true", "world")).isEqualTo(11);
        assertThat(p().get(process + "/output?follow=true").body()).isEqualTo("hello world");
        assertThat(ok(p().get(process + "?wait=10"), 200).get("state").asText())
                .isEqualTo("EXITED");
    }

    private static long stdin(String url, String piece) throws IOException {
        return ok(p().post(url, piece), 200).get("offset").asLong();
    }

    @Test
    void aSignalIsNamedInTheResult() throws Exception {
        String process =
                path + "/processes/" + started("\"argv\":[\"sleep\",\"600\"]").get("id").asText();
        JsonNode list = ok(p().get(path + "/processes"), 200).get("processes");
        assertThat(list.findValuesAsText("state")).contains("RUNNING");
        refused(p().post(process + "/signal", "{\"signal\":\"FOO\"}"), 400, "INVALID_ARGUMENT");
        assertThat(p().post(process + "/signal", "{\"signal\":\"SIGTERM\"}").statusCode())
                .isEqualTo(204);
        JsonNode ended = ok(p().get(process + "?wait=10"), 200);
        assertThat(ended.get("signal").asInt()).isEqualTo(15);
        assertThat(ended.get("exitCode").asInt()).isEqualTo(143);
    }

    @Test
    void anyNameIsWrittenReadListedAndRemoved() throws Exception {
        ok(p().post(path + "/directories", "{\"path\":\"/odd/deep\",\"parents\":true}"), 201);
        for (String name : new String[] {"a%20b", "%FF%FE", "new%0Aline", "%25", "+", "%C3%A9"}) {
            String file = path + "/files?path=/odd/" + name;
            JsonNode written = ok(p().put(file + "&mode=0600", name.getBytes(UTF_8)), 200);
            assertThat(written.get("mode").asText()).isEqualTo("0600");
            String shown = written.get("path").asText();
            assertThat(p().get(path + "/files?path=" + shown).body()).as(shown).isEqualTo(name);
        }
        JsonNode listed = ok(p().get(path + "/files/list?path=/odd"), 200).get("files");
        assertThat(listed).hasSize(7);
        assertThat(listed.findValuesAsText("kind")).containsOnlyOnce("directory");
        refused(p().delete(path + "/files?path=/odd"), 409, "FILE_CONFLICT");
        assertThat(p().delete(path + "/files?path=/odd&recursive=true").statusCode())
                .isEqualTo(204);
        refused(p().get(path + "/files/stat?path=/odd"), 404, "FILE_NOT_FOUND");
        refused(p().get(path + "/files?path=/nul%00"), 400, "INVALID_ARGUMENT");
        refused(p().get(path + "/files"), 400, "INVALID_ARGUMENT");
    }

    /** Dots lead nowhere but inside the guest: its root is where they end. */
    @Test
    void dotsDoNotLeaveTheGuest() throws Exception {
        refused(p().get(path + "/files?path=/../../../../etc/hostname"), 404, "FILE_NOT_FOUND");
        ok(p().put(path + "/files?path=../../../../../../tmp/up", "x".getBytes(UTF_8)), 200);
        assertThat(p().get(path + "/files?path=/tmp/up").body()).isEqualTo("x");
        refused(p().get(path + "/files?path=/tmp"), 409, "FILE_CONFLICT");
        refused(p().put(path + "/files?path=/tmp", new byte[1]), 409, "FILE_CONFLICT");
        refused(p().put(path + "/files?path=/no/where", new byte[1]), 404, "FILE_NOT_FOUND");
    }

    @Test
    void rangesFollowTheRfc() throws Exception {
        String file = path + "/files?path=/tmp/range";
        ok(p().put(file, "0123456789".getBytes(UTF_8)), 200);
        assertRange(file, "bytes=2-4", 206, "234");
        assertRange(file, "bytes=7-", 206, "789");
        assertRange(file, "bytes=-3", 206, "789");
        assertRange(file, "bytes=-30", 206, "0123456789");
        assertRange(file, "bytes=8-99", 206, "89");
        assertRange(file, "bytes=4-2", 200, "0123456789");
        assertRange(file, "lines=1-2", 200, "0123456789");
        refused(ranged(file, "bytes=10-"), 416, "RANGE_NOT_SATISFIABLE");
        refused(ranged(file, "bytes=-0"), 416, "RANGE_NOT_SATISFIABLE");
        ok(p().put(path + "/files?path=/tmp/empty", new byte[0]), 200);
        assertThat(p().get(path + "/files?path=/tmp/empty").body()).isEmpty();
        refused(ranged(path + "/files?path=/tmp/empty", "bytes=0-0"), 416, "RANGE_NOT_SATISFIABLE");
    }

    private static HttpResponse<String> ranged(String url, String range) {
        return p().send(p().request(p().ports.getFirst(), url).header("Range", range).GET());
    }

    private static void assertRange(String url, String range, int status, String body) {
        HttpResponse<String> answer = ranged(url, range);
        assertThat(answer.statusCode()).as(range).isEqualTo(status);
        assertThat(answer.body()).as(range).isEqualTo(body);
    }

    @Test
    void whatIsTooLargeIsRefusedAndWhatFillsTheDiskIsNamed() throws Exception {
        refused(
                p().post(path + "/exec", "{\"command\":\"echo " + "x".repeat(2 << 20) + "\"}"),
                413,
                "BODY_TOO_LARGE");
        refused(
                p().post(path + "/exec", "{\"command\":\"echo " + "x".repeat(200_000) + "\"}"),
                400,
                "INVALID_ARGUMENT");
        refused(p().put(path + "/files?path=/tmp/big", new byte[9 << 20]), 507, "GUEST_DISK_FULL");
        refused(p().get(path + "/files/stat?path=/tmp/big"), 404, "FILE_NOT_FOUND");
        ok(p().put(path + "/files?path=/tmp/small", new byte[1000]), 200);
        assertThat(p().delete(path + "/files?path=/tmp/small").statusCode()).isEqualTo(204);
    }

    @Test
    void aGuestThatHangsIsNamedAndItsSessionCanBeDestroyed() throws Exception {
        String hung = path(create(MINIMAL));
        CompletableFuture<HttpResponse<String>> exec =
                p().http
                        .sendAsync(
                                p().request(p().ports.getFirst(), hung + "/exec")
                                        .POST(
                                                HttpRequest.BodyPublishers.ofString(
                                                        "{\"command\":\"hang; true\","
                                                                + "\"timeoutMillis\":1000}"))
                                        .build(),
                                HttpResponse.BodyHandlers.ofString());
        p().await(
                        "the guest hangs",
                        () -> p().get(hung + "/files/stat?path=/tmp").statusCode() == 502);
        refused(p().get(hung + "/files/stat?path=/tmp"), 502, "GUEST_UNREACHABLE");
        ok(p().delete(hung), 200);
        assertThat(exec.get(60, TimeUnit.SECONDS).statusCode()).isGreaterThanOrEqualTo(200);
    }

    /** From the guest's end over the node's outbox to the operation's row, and back to service. */
    @Test
    void aPanicIsReportedAndTheSessionGoesOnWithItsFiles() throws Exception {
        String session = path(create(MINIMAL));
        ok(p().put(session + "/files?path=/tmp/kept", "kept".getBytes(UTF_8)), 200);
        started(session, "\"argv\":[\"panic\"]");
        p().await("recovered", () -> ok(p().get(session), 200).get("epoch").asLong() == 2);
        JsonNode back = awaitState(session, "RUNNING");
        assertThat(back.get("reason").get("code").asText()).isEqualTo("GUEST_CRASH");
        assertThat(p().get(session + "/files?path=/tmp/kept").body()).isEqualTo("kept");
        JsonNode snapshots = ok(p().get(session + "/snapshots"), 200).get("snapshots");
        assertThat(snapshots.findValuesAsText("kind")).containsExactly("DISK");
        ok(p().delete(session), 200);
    }

    private static void started(String session, String fields) throws IOException {
        ok(p().post(session + "/processes", "{" + fields + "}"), 201);
    }
}
