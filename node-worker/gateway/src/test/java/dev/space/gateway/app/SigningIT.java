package dev.space.gateway.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Injection;
import dev.space.objects.ObjectServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * AWS Signature V4 against a real S3 server, which verifies it: curl signs with keys that nobody
 * knows, or not at all, and is served.
 */
@Timeout(120)
final class SigningIT {

    private static final String URL = "https://" + InterceptRig.NAME;
    private static final String KEY_ID = "SPACEEXAMPLEKEY";
    private static final String SECRET = "canary-5up3r/s3cret+value";
    private static final Injection.Sigv4 S3 = new Injection.Sigv4(KEY_ID, "eu-central-1", "s3");

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Sealer sealer;

    @SuppressWarnings("NullAway.Init") // set before every test
    private InterceptRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private ObjectServer server;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TlsFront front;

    private int version;

    @BeforeEach
    void start() throws Exception {
        sealer = new Sealer();
        rig = new InterceptRig(directory, Optional.of(sealer.keyset(directory.resolve("keyset"))));
        Path objects = Files.createDirectory(directory.resolve("objects"));
        server = ObjectServer.start(objects, 0, KEY_ID, SECRET);
        front = new TlsFront(rig.outsideRoot, InterceptRig.NAME, rig.address, 443, server.port());
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : new AutoCloseable[] {front, server, rig}) {
            if (each != null) {
                each.close();
            }
        }
    }

    private void bind(Injection injection, String secret) throws Exception {
        version++;
        CredentialGrant grant = sealer.grant("s3", InterceptRig.NAME, 443, injection, secret);
        var _ =
                rig.rig
                        .calls()
                        .bind(
                                Rig.request(
                                                Rig.SESSION,
                                                1,
                                                version,
                                                "{\"allow\":[{\"host\":\"api.example\","
                                                        + "\"private\":true,\"ports\":[443]}]}")
                                        .toBuilder()
                                        .setGrantsJson(Sealer.json(grant))
                                        .build());
    }

    private String curl(String... arguments) throws Exception {
        return rig.curl(arguments);
    }

    @Test
    void theServerRefusesWhatTheGatewayDidNotSign() throws Exception {
        bind(new Injection.Header("x-other", ""), SECRET);
        String sandboxes = "eu-central-1:s3";
        assertThat(
                        curl(
                                "-i",
                                "--aws-sigv4",
                                "aws:amz:" + sandboxes,
                                "-u",
                                "guess:guess",
                                URL + "/"))
                .contains("403")
                .contains("InvalidAccessKeyId");
        bind(S3, "another-secret-than-the-server's");
        assertThat(curl("-i", URL + "/")).contains("403").contains("SignatureDoesNotMatch");
        bind(S3, SECRET);
        assertThat(curl("-i", URL + "/")).contains(" 200").contains("ListAllMyBucketsResult");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain.txt", "a b+c(1)*~'!.txt", "dir/%C3%BC%20x", "q%3F%23%25"})
    void objectsOfEveryNameAreWrittenListedAndRead(String name) throws Exception {
        bind(S3, SECRET);
        assertThat(curl("-i", "-X", "PUT", URL + "/bucket")).contains(" 200");
        String at = URL + "/bucket/" + name.replace(" ", "%20");
        String[] signedWithAnything = {
            "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", "ANYTHING:anything"
        };
        assertThat(
                        curl(
                                "-i",
                                signedWithAnything[0],
                                signedWithAnything[1],
                                signedWithAnything[2],
                                signedWithAnything[3],
                                "-X",
                                "PUT",
                                "-H",
                                "X-Amz-Meta-Who:  a   sandbox",
                                "-H",
                                "Content-Type: text/plain",
                                "-d",
                                "what is in it",
                                at))
                .contains(" 200");
        assertThat(curl("-i", at))
                .contains("what is in it")
                .containsIgnoringCase("who: a   sandbox");
        assertThat(curl(URL + "/bucket?prefix=&max-keys=5&delimiter=" + "%2F&list-type=2"))
                .contains("ListBucketResult");
        String presigned =
                "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=guess%2F20200101%2Fr%2Fs3"
                        + "%2Faws4_request&X-Amz-Date=20200101T000000Z&X-Amz-Expires=60"
                        + "&X-Amz-SignedHeaders=host&X-Amz-Signature=00";
        assertThat(curl(at + presigned)).isEqualTo("what is in it");
        assertThat(curl("-i", "-X", "DELETE", at)).contains(" 204");
        assertThat(curl("-i", at)).contains(" 404");
    }

    @Test
    void bodiesOfAnySizePassAndPiecesWithSignaturesDoNot() throws Exception {
        bind(S3, SECRET);
        assertThat(curl("-i", "-X", "PUT", URL + "/bucket")).contains(" 200");
        Path large = Files.write(directory.resolve("large"), new byte[3 << 20]);
        assertThat(curl("-i", "-T", large.toString(), URL + "/bucket/large")).contains(" 200");
        assertThat(curl("-sI", URL + "/bucket/large")).containsIgnoringCase("length: 3145728");
        Path pieces =
                Files.writeString(
                        directory.resolve("pieces"),
                        "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n",
                        StandardCharsets.US_ASCII);
        assertThat(pieces(pieces, "STREAMING-UNSIGNED-PAYLOAD-TRAILER")).contains(" 200");
        assertThat(curl(URL + "/bucket/pieces")).isEqualTo("hello");
        assertThat(pieces(pieces, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"))
                .contains(" 403")
                .contains("SIGNATURE_STREAMED");
    }

    private String pieces(Path body, String kind) throws Exception {
        return curl(
                "-i",
                "-T",
                body.toString(),
                "-H",
                "x-amz-content-sha256: " + kind,
                "-H",
                "content-encoding: aws-chunked",
                "-H",
                "x-amz-decoded-content-length: 5",
                "-H",
                "x-amz-trailer: x-amz-checksum-crc32",
                URL + "/bucket/pieces");
    }
}
