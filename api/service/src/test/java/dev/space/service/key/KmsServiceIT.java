package dev.space.service.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.space.model.Secret;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.kms.KmsClient;

/** A key in a real server of the KMS protocol: used, rotated, disabled, enabled, deleted. */
@Timeout(120)
class KmsServiceIT {
    private static final byte[] PLAIN = "a lineage's key".getBytes(StandardCharsets.US_ASCII);

    private static @Nullable LocalKms server;
    private static KmsClient admin = KmsClient.builder().region(Region.EU_CENTRAL_1).build();
    private String key = "";

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        if (LocalKms.binary().isEmpty()) {
            System.err.println("skipped: set SPACE_KMS_BIN to local-kms");
        }
        Assumptions.assumeTrue(LocalKms.binary().isPresent(), "no SPACE_KMS_BIN");
        LocalKms started = LocalKms.start(LocalKms.binary().get(), directory);
        server = started;
        admin.close();
        admin =
                KmsClient.builder()
                        .region(Region.EU_CENTRAL_1)
                        .endpointOverride(URI.create("http://127.0.0.1:" + started.port()))
                        .credentialsProvider(
                                StaticCredentialsProvider.create(
                                        AwsBasicCredentials.create("id", "secret")))
                        .build();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!answers()) {
            assertThat(System.nanoTime() - end).as("the server starts").isNegative();
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    private static boolean answers() {
        try {
            return admin.listKeys().hasKeys();
        } catch (SdkException notYet) {
            return false;
        }
    }

    @AfterAll
    static void stop() throws Exception {
        admin.close();
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void makeKey() {
        key = admin.createKey().keyMetadata().keyId();
    }

    private KmsService service(int port) {
        try (Secret id = Secret.ofText("id", "id");
                Secret secret = Secret.ofText("secret", "hidden-secret")) {
            return new KmsService(
                    Optional.of(URI.create("http://127.0.0.1:" + port)),
                    "eu-central-1",
                    key,
                    id,
                    secret);
        }
    }

    private KmsService service() {
        LocalKms running = server;
        assertThat(running).isNotNull();
        return service(running == null ? 0 : running.port());
    }

    private static KeyFault fault(KmsService service, String wrapped) {
        KeyFault fault =
                catchThrowableOfType(KeyFault.class, () -> service.unwrap("lineage:a", wrapped));
        assertThat(fault).isNotNull();
        assertThat(fault.getMessage()).doesNotContain("127.0.0.1").doesNotContain("hidden");
        return fault;
    }

    @Test
    void whatIsWrappedOpensInItsContextOnly() {
        try (KmsService service = service()) {
            String wrapped = service.wrap("lineage:a", PLAIN);
            assertThat(service.unwrap("lineage:a", wrapped)).isEqualTo(PLAIN);
            KeyFault other =
                    catchThrowableOfType(
                            KeyFault.class, () -> service.unwrap("lineage:b", wrapped));
            assertThat(other.isPassing()).isFalse();
            assertThat(fault(service, "no base64!").isPassing()).isFalse();
        }
    }

    @Test
    void aDisabledKeySaysNoUntilItIsEnabled() {
        try (KmsService service = service()) {
            String wrapped = service.wrap("lineage:a", PLAIN);
            admin.disableKey(request -> request.keyId(key));
            assertThat(fault(service, wrapped).isPassing()).isFalse();
            admin.enableKey(request -> request.keyId(key));
            assertThat(service.unwrap("lineage:a", wrapped)).isEqualTo(PLAIN);
        }
    }

    @Test
    void aKeyThatIsToBeDeletedSaysNoAndAnotherOneDoesNotOpenWhatItWrapped() {
        try (KmsService service = service()) {
            String wrapped = service.wrap("lineage:a", PLAIN);
            admin.scheduleKeyDeletion(request -> request.keyId(key).pendingWindowInDays(7));
            assertThat(fault(service, wrapped).isPassing()).isFalse();
            makeKey();
            try (KmsService next = service()) {
                assertThat(fault(next, wrapped).isPassing()).isFalse();
            }
        }
    }

    @Test
    void aServerThatIsAwayIsNoRefusal() {
        try (KmsService service = service(1)) {
            assertThat(fault(service, "AAAA").isPassing()).isTrue();
        }
    }
}
