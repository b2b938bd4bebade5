package dev.space.gateway.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.gatewayapi.v1.Audit;
import dev.space.gatewayapi.v1.Event;
import dev.space.gatewayapi.v1.EventsRequest;
import dev.space.gatewayapi.v1.Kind;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Injection;
import dev.space.model.credential.UseLimit;
import dev.space.model.egress.HttpMatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Credentials get into requests, and out of answers, and curl never sees one. */
@Timeout(120)
final class InjectTest {

    private static final String URL = "https://" + InterceptRig.NAME;
    private static final String SECRET = "canary-5up3r/s3cret+value";
    private static final String STARS = "*".repeat(SECRET.length());
    private static final String PLACEHOLDER = "SPACE_PLACEHOLDER_1";

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Sealer sealer;

    @SuppressWarnings("NullAway.Init") // set before every test
    private InterceptRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Origin origin;

    private int version;

    @BeforeEach
    void start() throws Exception {
        sealer = new Sealer();
        rig = new InterceptRig(directory, Optional.of(sealer.keyset(directory.resolve("keyset"))));
        origin = rig.origin("h2", "http/1.1");
    }

    @AfterEach
    void stop() {
        if (origin != null) {
            origin.close();
        }
        if (rig != null) {
            rig.close();
        }
    }

    private void bind(CredentialGrant... grants) {
        version++;
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
                                        .setGrantsJson(Sealer.json(grants))
                                        .build());
    }

    private CredentialGrant grant(String name, Injection injection) throws Exception {
        return sealer.grant(name, InterceptRig.NAME, 443, injection, SECRET);
    }

    private static void assertClean(String said) {
        String base64 = Base64.getEncoder().encodeToString(SECRET.getBytes(StandardCharsets.UTF_8));
        assertThat(said)
                .doesNotContain(SECRET)
                .doesNotContain(base64)
                .doesNotContain("canary-5up3r%2Fs3cret%2Bvalue");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void aHeaderIsSetAndItsEchoOverwritten(String flag) throws Exception {
        bind(grant("one", new Injection.Header("authorization", "Bearer ")));
        String said =
                rig.curl(flag, "-i", "-H", "Authorization: mine", "--compressed", URL + "/echo");
        assertThat(origin.seen().getLast())
                .contains("authorization: Bearer " + SECRET)
                .doesNotContain("mine")
                .contains("accept-encoding: identity");
        assertClean(said);
        assertThat(said)
                .contains("x-authorization: Bearer " + STARS)
                .contains("uthorization: Bearer " + STARS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void basicAndQueryAreSet(String flag) throws Exception {
        bind(grant("one", new Injection.Basic("user")));
        assertClean(rig.curl(flag, "-i", URL + "/echo"));
        assertThat(origin.seen().getLast())
                .contains(
                        Base64.getEncoder()
                                .encodeToString(
                                        ("user:" + SECRET).getBytes(StandardCharsets.UTF_8)));
        bind(grant("one", new Injection.Query("key")));
        assertClean(rig.curl(flag, "-i", URL + "/echo?key=mine&a=b"));
        assertThat(origin.seen().getLast())
                .contains("/echo?a=b&key=canary-5up3r%2Fs3cret%2Bvalue\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void aPlaceholderIsReplacedInHeadersQueryAndBody(String flag) throws Exception {
        bind(grant("one", new Injection.Placeholder(PLACEHOLDER)));
        String said =
                rig.curl(
                        flag,
                        "-H",
                        "X-Key: a" + PLACEHOLDER,
                        "-d",
                        "user=me&password=" + PLACEHOLDER,
                        URL + "/echo?k=" + PLACEHOLDER);
        assertThat(origin.seen().getLast())
                .contains("/echo?k=canary-5up3r%2Fs3cret%2Bvalue")
                .contains(": a" + SECRET);
        assertClean(said);
        assertThat(said).contains("user=me&password=*").doesNotContain(PLACEHOLDER);
        assertThat(rig.curl(flag, "-u", "git:" + PLACEHOLDER, URL + "/echo")).contains("/echo");
        assertThat(origin.seen().getLast())
                .contains(
                        Base64.getEncoder()
                                .encodeToString(
                                        ("git:" + SECRET).getBytes(StandardCharsets.UTF_8)));
        assertThat(rig.curl(flag, "-i", "--data-binary", "@" + large(), URL + "/echo"))
                .contains(" 413")
                .contains("REQUEST_TOO_LARGE");
    }

    private Path large() throws Exception {
        return java.nio.file.Files.write(directory.resolve("large"), new byte[2 << 20]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void aRequestIsSignedWithItsBody(String flag) throws Exception {
        bind(grant("one", new Injection.Sigv4("AKIDEXAMPLE", "eu-central-1", "dynamodb")));
        String said =
                rig.curl(flag, "-H", "Authorization: mine", "-d", "{\"a\":1}", URL + "/echo?b=%7E");
        assertClean(said);
        assertThat(origin.seen().getLast())
                .doesNotContain("mine")
                .contains("POST /echo?b=~\n")
                .containsPattern(
                        "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\\d{8}"
                                + "/eu-central-1/dynamodb/aws4_request, SignedHeaders="
                                + "content-type;host;x-amz-content-sha256;x-amz-date, "
                                + "Signature=[0-9a-f]{64}\n")
                .contains(
                        "x-amz-content-sha256: "
                                + "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
        assertThat(said).contains("{\"a\":1}");
        assertThat(rig.curl(flag, "-i", "--data-binary", "@" + large(), URL + "/echo"))
                .contains(" 413")
                .contains("REQUEST_TOO_LARGE");
    }

    @Test
    void aCredentialIsUsedNoOftenerThanItsLimit() throws Exception {
        CredentialUse plain = grant("one", new Injection.Header("x-key", "")).use();
        CredentialUse limited =
                new CredentialUse(
                        plain.hosts(),
                        plain.match(),
                        plain.injection(),
                        Optional.of(new UseLimit(2, UseLimit.Per.MINUTE)));
        bind(sealer.grant("one", limited, SECRET));
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
        String third = rig.curl("-i", URL + "/echo");
        assertThat(third).contains(" 429").contains("space-refused: CREDENTIAL_LIMIT");
        assertClean(third);
        assertThat(origin.seen()).hasSize(2);
    }

    @Test
    void exactlyOneMustFit() throws Exception {
        Injection header = new Injection.Header("authorization", "");
        bind(grant("one", header), grant("two", header));
        assertThat(rig.curl("-i", URL + "/echo"))
                .contains(" 403")
                .contains("AMBIGUOUS_CREDENTIAL: one, two");
        bind(
                sealer.grant(
                        "one",
                        InterceptRig.NAME,
                        443,
                        new HttpMatch(List.of("GET"), "/v1/*"),
                        header,
                        SECRET));
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 403").contains("NOT_GRANTED");
        assertThat(rig.curl("-i", URL + "/v1/echo")).contains(" 200");
        assertThat(origin.seen()).hasSize(1);
    }

    @Test
    void aPlaceholderForAnotherHostIsRefused() throws Exception {
        bind(
                sealer.grant(
                        "other",
                        "other.example",
                        443,
                        new Injection.Placeholder(PLACEHOLDER),
                        SECRET),
                grant("one", new Injection.Header("x-key", "")));
        assertThat(rig.curl("-i", "-H", "X: " + PLACEHOLDER, URL + "/echo"))
                .contains(" 403")
                .contains("PLACEHOLDER_NOT_GRANTED");
        assertThat(origin.seen()).isEmpty();
    }

    @Test
    void whatCannotBeOpenedIsRefusedAndWhatIsEncodedToo() throws Exception {
        bind(
                new Sealer()
                        .grant(
                                "foreign",
                                InterceptRig.NAME,
                                443,
                                new Injection.Header("x-key", ""),
                                SECRET));
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 502").contains("UNAVAILABLE");
        assertThat(origin.seen()).isEmpty();
        bind(grant("one", new Injection.Header("x-key", "")));
        for (String flag : List.of("--http1.1", "--http2")) {
            assertThat(rig.curl(flag, "-i", URL + "/gzip"))
                    .contains(" 502")
                    .contains("ANSWER_ENCODED");
        }
        bind();
        assertThat(rig.curl("-i", "-k", URL + "/echo")).contains(" 200");
        assertThat(origin.seen().getLast()).doesNotContain(SECRET);
    }

    @Test
    void everyUseAndRefusalIsRecordedWithoutTheValue() throws Exception {
        bind(grant("one", new Injection.Header("x-key", "")));
        assertThat(rig.curl(URL + "/echo?private")).contains("GET /echo");
        List<Audit> records = new ArrayList<>();
        Iterator<Event> events = rig.rig.calls().events(EventsRequest.getDefaultInstance());
        while (records.stream().noneMatch(a -> a.getKind() == Kind.CREDENTIAL)) {
            Event event = events.next();
            assertThat(event.toString()).doesNotContain(SECRET).doesNotContain("private");
            records.add(event.getAudit());
        }
        Audit use = records.getLast();
        assertThat(use.getCredential()).isEqualTo(Sealer.ID);
        assertThat(use.getVerdict()).isEqualTo("ALLOW");
        assertThat(use.getMethod()).isEqualTo("GET");
        assertThat(use.getName()).isEqualTo(InterceptRig.NAME);
    }
}
