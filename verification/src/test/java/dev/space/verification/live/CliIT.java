package dev.space.verification.live;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.verification.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as people type it: streams, exit codes, Ctrl-C, mistakes. */
final class CliIT {

    private static final Duration MAX = Duration.ofMinutes(3);
    private static final int INPUT_BYTES = 3 << 20;
    private static final int EXIT_INTERRUPTED = 130;
    private static final int EXIT_TIMED_OUT = 124;
    private static final int EXIT_USAGE = 2;
    private static final String[] RUN = {
        "run", "--template", Platform.TEMPLATE, "--size", Platform.SIZE
    };
    private static final ObjectMapper JSON = new ObjectMapper();

    private static @Nullable Platform platform;

    @TempDir Path files = Path.of("");

    /** What a command left: its code and both outputs, each byte of stdout as one character. */
    private record Ran(int code, String out, String err) {}

    @BeforeAll
    static void start() throws IOException {
        Platform.whyNot().ifPresent(why -> System.err.println("CliIT is not run: " + why));
        assumeTrue(Platform.whyNot().isEmpty(), () -> Platform.whyNot().orElseThrow());
        platform = Platform.start(Repository.root(), 4);
    }

    @AfterAll
    static void stop() throws IOException {
        if (platform != null) {
            platform.close();
        }
    }

    private static Platform p() {
        if (platform == null) {
            throw new IllegalStateException("no platform");
        }
        return platform;
    }

    private static String[] run(String... more) {
        List<String> all = new ArrayList<>(List.of(RUN));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private Process started(ProcessBuilder builder, byte[] stdin) throws IOException {
        Path in = Files.write(files.resolve("in"), stdin);
        return builder.redirectInput(in.toFile())
                .redirectOutput(files.resolve("out").toFile())
                .redirectError(files.resolve("err").toFile())
                .start();
    }

    private Ran ended(Process process) throws Exception {
        if (!process.waitFor(MAX.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("takes longer than " + MAX + ": " + err());
        }
        return new Ran(
                process.exitValue(), Files.readString(files.resolve("out"), ISO_8859_1), err());
    }

    private String err() throws IOException {
        return Files.readString(files.resolve("err"));
    }

    private Ran space(byte[] stdin, String... arguments) throws Exception {
        return ended(started(p().command(arguments), stdin));
    }

    private Ran space(String... arguments) throws Exception {
        return space(new byte[0], arguments);
    }

    @Test
    void runPassesStreamsAndExitCodeThrough() throws Exception {
        byte[] input = new byte[INPUT_BYTES];
        new Random(7).nextBytes(input);
        Ran ran = space(input, run("--", "sh", "-c", "cat; echo to err >&2; exit 7"));
        assertThat(ran.err()).isEqualTo("to err\n");
        assertThat(ran.code()).isEqualTo(7);
        assertThat(ran.out().equals(new String(input, ISO_8859_1)))
                .as("the same bytes came back")
                .isTrue();
        assertThat(space(run("--", "no-such-command")).code()).isEqualTo(127);
    }

    @Test
    void keepTellsTheSessionOnStderr() throws Exception {
        Ran ran = space(run("--keep", "--", "echo", "hello"));
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).isEqualTo("hello\n");
        String id = ran.err().strip();
        assertThat(p().rest().state(id)).isEqualTo("RUNNING");
        assertThat(space("destroy", id).code()).isZero();
    }

    @Test
    void timeoutEndsTheCommandAndSaysSo() throws Exception {
        Ran ran = space(run("--timeout", "1", "--", "sh", "-c", "echo begun; sleep 600"));
        assertThat(ran.code()).isEqualTo(EXIT_TIMED_OUT);
        assertThat(ran.out()).isEqualTo("begun\n");
        assertThat(ran.err()).contains("TIMED_OUT");
    }

    @Test
    void interruptedRunDestroysItsSession() throws Exception {
        Process process =
                started(interruptible(run("--", "sh", "-c", "echo begun; sleep 600")), new byte[0]);
        Await.until(
                "the command's first output",
                MAX,
                () -> Files.readString(files.resolve("out")).equals("begun\n"));
        interrupt(process);
        Ran ran = ended(process);
        assertThat(ran.code()).isEqualTo(EXIT_INTERRUPTED);
        assertThat(ran.err()).contains("interrupted; destroying session").contains("destroyed");
        assertThat(p().rest().list("/v1/sessions")).isEmpty();
    }

    @Test
    void interruptedExecEndsTheCommandAndKeepsTheSession() throws Exception {
        String id = p().rest().created();
        Process process =
                started(
                        interruptible("exec", id, "--", "sh", "-c", "echo begun; sleep 600"),
                        new byte[0]);
        Await.until(
                "the command's first output",
                MAX,
                () -> Files.readString(files.resolve("out")).equals("begun\n"));
        interrupt(process);
        assertThat(ended(process).code()).isEqualTo(EXIT_INTERRUPTED);
        assertThat(p().rest().state(id)).isEqualTo("RUNNING");
        assertThat(p().rest().list("/v1/sessions/" + id + "/processes"))
                .isNotEmpty()
                .noneMatch(one -> one.path("state").asText().equals("RUNNING"));
        p().rest().destroy(id);
    }

    /** Tests that a shell runs in the background ignore the signal, and so would their children. */
    private ProcessBuilder interruptible(String... arguments) {
        ProcessBuilder command = p().command(arguments);
        command.command().addAll(0, List.of("env", "--default-signal=INT"));
        return command;
    }

    private static void interrupt(Process process) throws Exception {
        var _ = new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    }

    @Test
    void upAgainSaysThatItIsUp() throws Exception {
        Ran ran = space("up");
        assertThat(ran.code()).isZero();
        assertThat(ran.err()).contains("up already");
        assertThat(ran.out()).contains("API key      in " + p().data());
    }

    @Test
    void mistakesAreTold() throws Exception {
        Ran flag = space("create", "--tempalte", "minimal");
        assertThat(flag.code()).isEqualTo(EXIT_USAGE);
        assertThat(flag.err()).contains("--tempalte").contains("--template");
        Ran template = space("create", "--template", "minimol");
        assertThat(template.code()).isEqualTo(1);
        assertThat(template.err())
                .contains("did you mean minimal?")
                .containsIgnoringCase("published are:");
        ProcessBuilder wrong = p().command("list");
        wrong.environment().put("SPACE_API_KEY", "space_" + "0".repeat(40));
        Ran key = ended(started(wrong, new byte[0]));
        assertThat(key.code()).isEqualTo(1);
        assertThat(key.err()).contains("UNAUTHENTICATED");
    }

    @Test
    void anyUserWithAKeyIsAClient() throws Exception {
        ProcessBuilder client = p().command("create", "--template", "minimal", "--size", "xs");
        client.command()
                .addAll(0, List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        boolean readable =
                new ProcessBuilder(
                                        "setpriv",
                                        "--reuid=65534",
                                        "--regid=65534",
                                        "--clear-groups",
                                        "test",
                                        "-x",
                                        Repository.root().resolve("space").toString())
                                .start()
                                .waitFor()
                        == 0;
        if (!readable) {
            System.err.println("not run: nobody cannot read the clone " + Repository.root());
        }
        assumeTrue(readable, "nobody cannot read the clone");
        Map<String, String> env = client.environment();
        env.put("SPACE_API_KEY", Files.readString(p().data().resolve("secrets/api-key")).strip());
        env.put("HOME", "/nonexistent");
        Ran ran = ended(started(client, new byte[0]));
        assertThat(ran.code()).as(ran.err()).isZero();
        p().rest().destroy(ran.out().split(" ", 2)[0]);
    }

    @Test
    void statusAndDoctorSpeakJson() throws Exception {
        JsonNode status = JSON.readTree(space("status", "--json").out());
        assertThat(status.path("phase").asText()).isEqualTo("READY");
        assertThat(status.path("nodes")).hasSize(1);
        assertThat(status.path("services")).hasSize(Platform.SERVICES.size());
        List<String> checks = new ArrayList<>();
        for (String line : space("doctor", "--json").out().lines().toList()) {
            JsonNode finding = JSON.readTree(line);
            checks.add(finding.path("check").asText());
            assertThat(finding.path("level").asText()).as(line).isIn("OK", "NOTE", "FAULT");
        }
        assertThat(checks).contains("jdk", "qemu", "accelerator", "disk", "files");
    }
}
