package dev.space.vault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.space.model.Secret;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Both roles against a real server, well and unwell. */
@Timeout(120)
final class OpenBaoIT {

    private static final Path POLICIES = Path.of("../../vault-policies");
    private static final String SECRET = "canary-of-the-vault-7d1f";
    private static final String CONTEXT = "space-credential/1|prj_a|crd_b|1|{}";
    private static final AtomicLong PATHS = new AtomicLong();

    @TempDir static Path directory = Path.of("");

    private static @Nullable OpenBao server;

    private final AtomicLong ahead = new AtomicLong();

    private long clock() {
        return System.nanoTime() + ahead.get();
    }

    @BeforeAll
    static void start() throws Exception {
        if (OpenBao.binary().isEmpty()) {
            System.err.println("skipped: set SPACE_BAO_BIN to the bao binary of OpenBao");
        }
        Assumptions.assumeTrue(OpenBao.binary().isPresent(), "no SPACE_BAO_BIN");
        server = OpenBao.start(OpenBao.binary().orElseThrow(), directory, POLICIES);
    }

    @AfterAll
    static void stop() throws Exception {
        OpenBao running = server;
        if (running != null) {
            running.close();
        }
    }

    private static OpenBao bao() {
        OpenBao running = server;
        if (running == null) {
            throw new AssertionError("no server");
        }
        return running;
    }

    private static VaultWriter writer() throws Exception {
        return new VaultWriter(bao().settings("space-control", bao().port()));
    }

    private VaultReader reader() throws Exception {
        return new VaultReader(bao().settings("space-gateway", bao().port()), this::clock);
    }

    private static String path() {
        return OpenBao.PREFIX + "/prj_a/crd_" + PATHS.incrementAndGet();
    }

    private static long write(VaultWriter writer, String path, String value) {
        try (Secret secret = Secret.ofText("test", value)) {
            return writer.write(path, CONTEXT, secret);
        }
    }

    private static String read(VaultReader reader, String path, long version) {
        try (Secret secret = reader.read(path, version, CONTEXT)) {
            return secret.text();
        }
    }

    private static VaultFault fault(ThrowingCallable call) {
        VaultFailure failure = catchThrowableOfType(VaultFailure.class, call);
        assertThat(failure).as("a failure").isNotNull();
        assertThat(failure.getMessage())
                .doesNotContain("127.0.0.1")
                .doesNotContain(SECRET)
                .doesNotContain("hvs.")
                .doesNotContain("crd_");
        return failure.fault();
    }

    private static String metadata(String path) throws Exception {
        return bao().call("GET", "/v1/space/metadata/" + path, "");
    }

    @Test
    void whatIsWrittenIsReadRotatedAndDestroyed() throws Exception {
        String path = path();
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            assertThat(write(writer, path, SECRET)).isEqualTo(1);
            assertThat(read(reader, path, 1)).isEqualTo(SECRET);
            assertThat(write(writer, path, "the next one")).isEqualTo(2);
            assertThat(write(writer, path, "the third one")).isEqualTo(3);
            assertThat(read(reader, path, 1)).isEqualTo(SECRET);
            writer.destroyBelow(path, 2);
            assertThat(fault(() -> read(reader, path, 1))).isEqualTo(VaultFault.ABSENT);
            assertThat(read(reader, path, 2)).isEqualTo("the next one");
            assertThat(metadata(path)).containsOnlyOnce("\"destroyed\":true");
            writer.remove(path);
            assertThat(fault(() -> read(reader, path, 3))).isEqualTo(VaultFault.ABSENT);
            assertThat(metadata(path)).contains("\"errors\":[]");
            writer.remove(path);
            writer.destroyBelow(path, 3);
        }
    }

    @Test
    void aSecretIsGivenForItsOwnUseOnly() throws Exception {
        String path = path();
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            long version = write(writer, path, SECRET);
            assertThat(fault(() -> reader.read(path, version, CONTEXT + "x").close()))
                    .isEqualTo(VaultFault.FOREIGN);
        }
    }

    @Test
    void eachRoleIsRefusedWhatTheOtherMayDo() throws Exception {
        String path = path();
        String outside = "elsewhere/prj_a/crd_1";
        VaultSettings control = bao().settings("space-control", bao().port());
        VaultSettings gateway = bao().settings("space-gateway", bao().port());
        try (VaultWriter writer = new VaultWriter(control);
                VaultReader reader = new VaultReader(gateway)) {
            long version = write(writer, path, SECRET);
            assertThat(fault(() -> write(writer, outside, SECRET))).isEqualTo(VaultFault.DENIED);
            assertThat(fault(() -> read(reader, outside, 1))).isEqualTo(VaultFault.DENIED);
            try (VaultReader asControl = new VaultReader(control);
                    VaultWriter asGateway = new VaultWriter(gateway);
                    VaultSession listing = new VaultSession(gateway, System::nanoTime);
                    VaultSession writing = new VaultSession(control, System::nanoTime)) {
                assertThat(fault(() -> read(asControl, path, version)))
                        .isEqualTo(VaultFault.DENIED);
                assertThat(fault(() -> write(asGateway, path, "taken over")))
                        .isEqualTo(VaultFault.DENIED);
                assertThat(fault(() -> asGateway.destroyBelow(path, version + 1)))
                        .isEqualTo(VaultFault.DENIED);
                assertThat(fault(() -> asGateway.remove(path))).isEqualTo(VaultFault.DENIED);
                for (VaultSession session : new VaultSession[] {listing, writing}) {
                    assertThat(
                                    fault(() ->
                                            session.call(
                                                    v -> v.logical().list("space/credentials"))))
                            .isEqualTo(VaultFault.DENIED);
                }
            }
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
        }
    }

    @Test
    void theProbeTellsTooMuchAndTooLittle() throws Exception {
        VaultSettings control = bao().settings("space-control", bao().port());
        VaultSettings gateway = bao().settings("space-gateway", bao().port());
        String own = Files.readString(POLICIES.resolve("space-control.hcl"));
        assertThat(complaints(control, VaultProbe.Role.CONTROL)).isEmpty();
        assertThat(complaints(gateway, VaultProbe.Role.GATEWAY)).isEmpty();
        assertThat(
                        String.join(
                                "\n",
                                VaultProbe.complaints(
                                        gateway, "credentials", VaultProbe.Role.CONTROL)))
                .contains("may [read], should [create, update]");
        try {
            bao().policy("space-control", own.replace("[\"create\", ", "[\"read\", \"create\", "));
            assertThat(complaints(control, VaultProbe.Role.CONTROL))
                    .containsExactly(
                            "space/data/credentials/space/doctor: may [create, read, update],"
                                    + " should [create, update]");
        } finally {
            bao().policy("space-control", own);
        }
    }

    private static List<String> complaints(VaultSettings settings, VaultProbe.Role role) {
        return VaultProbe.complaints(settings, OpenBao.PREFIX, role);
    }

    @Test
    void sealedOrGoneItSaysSoAndGoesOnByItself() throws Exception {
        String path = path();
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            long version = write(writer, path, SECRET);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            bao().seal();
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.SEALED);
            assertThat(fault(() -> write(writer, path, "x"))).isEqualTo(VaultFault.SEALED);
            bao().unseal();
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            bao().kill();
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.UNREACHABLE);
            bao().run();
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.SEALED);
            bao().unseal();
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            assertThat(write(writer, path, "y")).isEqualTo(version + 1);
        }
    }

    @Test
    void aSlowOneIsNotWaitedForLong() throws Exception {
        String path = path();
        try (SlowProxy proxy = new SlowProxy(bao().port());
                VaultWriter writer = writer();
                VaultReader reader =
                        new VaultReader(bao().settings("space-gateway", proxy.port()))) {
            long version = write(writer, path, SECRET);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            proxy.hold(true);
            long began = System.nanoTime();
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.TOO_SLOW);
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isLessThan(VaultSession.CALL_MAX.plusSeconds(5));
            proxy.hold(false);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
        }
    }

    @Test
    void aTokenIsRenewedBeforeItsEndAndReplacedWhenItIsRevoked() throws Exception {
        String path = path();
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            long version = write(writer, path, SECRET);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            int tokens = tokens();
            ahead.addAndGet(TimeUnit.MINUTES.toNanos(45)); // of its hour
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            ahead.addAndGet(TimeUnit.MINUTES.toNanos(30)); // without the renewal it would be over
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            assertThat(tokens()).as("renewed, not logged in again").isEqualTo(tokens);
            ahead.addAndGet(TimeUnit.MINUTES.toNanos(59));
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            assertThat(tokens()).as("logged in again").isEqualTo(tokens + 1);
            ahead.addAndGet(TimeUnit.SECONDS.toNanos(6));
            bao().revokeTokens();
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
        }
    }

    private static int tokens() throws Exception {
        return bao().call("LIST", "/v1/auth/token/accessors", "")
                .split("\"[A-Za-z0-9.]{20,}\"")
                .length;
    }

    @Test
    void aTokenThatTheServerForgotIsReplaced() throws Exception {
        String path = path();
        bao().role("space-gateway", "1s", "2s");
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            long version = write(writer, path, SECRET);
            long end = System.nanoTime() + Duration.ofSeconds(6).toNanos();
            int reads = 0;
            while (System.nanoTime() - end < 0) { // three of its lives, renewals between
                assertThat(read(reader, path, version)).isEqualTo(SECRET);
                reads++;
            }
            assertThat(reads).isGreaterThan(10);
        } finally {
            bao().role("space-gateway", "1h", "24h");
        }
    }

    @Test
    void rightsThatAreTakenAreMissedAtOnceAndUsedWhenTheyAreBack() throws Exception {
        String path = path();
        String own = Files.readString(POLICIES.resolve("space-gateway.hcl"));
        try (VaultWriter writer = writer();
                VaultReader reader = reader()) {
            long version = write(writer, path, SECRET);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
            bao().policy("space-gateway", own.replace("[\"read\"]", "[\"deny\"]"));
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.DENIED);
            ahead.addAndGet(TimeUnit.SECONDS.toNanos(6));
            assertThat(fault(() -> read(reader, path, version))).isEqualTo(VaultFault.DENIED);
            bao().policy("space-gateway", own);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
        } finally {
            bao().policy("space-gateway", own);
        }
    }

    @Test
    void aWrongSecretIdIsToldAndARightOneTakenFromTheFile() throws Exception {
        String path = path();
        VaultSettings settings = bao().settings("space-gateway", bao().port());
        String right = Files.readString(settings.secretIdFile());
        Files.writeString(settings.secretIdFile(), "not-the-secret-id");
        try (VaultWriter writer = writer();
                VaultReader reader = new VaultReader(settings)) {
            long version = write(writer, path, SECRET);
            assertThat(fault(() -> read(reader, path, version)))
                    .isEqualTo(VaultFault.LOGIN_REFUSED);
            Files.writeString(settings.secretIdFile(), right);
            assertThat(read(reader, path, version)).isEqualTo(SECRET);
        }
    }
}
