package dev.space.gateway.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.certificates.Authority;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Injection.Jwt.Algorithm;
import dev.space.model.credential.Injection.OAuth2.Grant;
import dev.space.model.credential.TokenUrl;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.OAuth2Config;
import okhttp3.mockwebserver.RecordedRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Secrets are exchanged for tokens at a real OAuth 2 server behind TLS, once for many requests. */
@Timeout(180)
final class TokenIT {

    private static final String URL = "https://" + InterceptRig.NAME;
    private static final String LOGIN = "login.example";
    private static final String SECRET = "canary-5up3r/s3cret+value";
    private static final Pattern BEARER = Pattern.compile("authorization: Bearer (\\S+)");
    private static final String NEAR = "{\"host\":\"" + LOGIN + "\",\"private\":true}";

    @TempDir Path directory;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Sealer sealer;

    @SuppressWarnings("NullAway.Init") // set before every test
    private InterceptRig rig;

    @SuppressWarnings("NullAway.Init") // set before every test
    private Origin origin;

    @SuppressWarnings("NullAway.Init") // set before every test
    private MockOAuth2Server login;

    @SuppressWarnings("NullAway.Init") // set before every test
    private TlsFront front;

    private String loginAddress = "";
    private int version;

    @BeforeEach
    void start() throws Exception {
        sealer = new Sealer();
        rig = new InterceptRig(directory, Optional.of(sealer.keyset(directory.resolve("keyset"))));
        origin = rig.origin("h2", "http/1.1");
        login =
                new MockOAuth2Server(
                        OAuth2Config.Companion.fromJson("{\"rotateRefreshToken\": true}"));
        login.start(InetAddress.getLoopbackAddress(), 0);
        loginAddress = rig.address.replaceFirst("127\\.79\\.", "127.80.");
        rig.rig.outsideDns.put(LOGIN, loginAddress);
        front = front(rig.outsideRoot);
    }

    private TlsFront front(Authority authority) throws Exception {
        return new TlsFront(authority, LOGIN, loginAddress, 443, login.baseUrl().port());
    }

    @AfterEach
    void stop() throws Exception {
        if (login != null) {
            login.shutdown();
        }
        for (AutoCloseable each : new AutoCloseable[] {front, origin, rig}) {
            if (each != null) {
                each.close();
            }
        }
    }

    private void bind(Injection injection, String secret, String... more) throws Exception {
        version++;
        CredentialGrant grant = sealer.grant("one", InterceptRig.NAME, 443, injection, secret);
        List<String> rules = new ArrayList<>(List.of(more));
        rules.add("{\"host\":\"api.example\",\"private\":true,\"ports\":[443]}");
        var _ =
                rig.rig
                        .calls()
                        .bind(
                                Rig.request(
                                                Rig.SESSION,
                                                1,
                                                version,
                                                "{\"allow\":[" + String.join(",", rules) + "]}")
                                        .toBuilder()
                                        .setGrantsJson(Sealer.json(grant))
                                        .build());
    }

    private static TokenUrl url() {
        return TokenUrl.of("https://" + LOGIN + "/default/token");
    }

    private static Injection oauth2(Grant grant, boolean inBody) {
        return new Injection.OAuth2(grant, url(), "the client", "read write", "", inBody);
    }

    private String bearer(int which) {
        Matcher bearer = BEARER.matcher(origin.seen().get(which));
        assertThat(bearer.find()).as("%s", origin.seen().get(which)).isTrue();
        return bearer.group(1);
    }

    private String asked() throws Exception {
        RecordedRequest request = login.takeRequest(5, TimeUnit.SECONDS);
        return request.getHeader("authorization") + "\n" + request.getBody().readUtf8();
    }

    private boolean wasAskedMore() {
        try {
            RecordedRequest _ = login.takeRequest(200, TimeUnit.MILLISECONDS);
            return true;
        } catch (RuntimeException none) {
            return false;
        }
    }

    @Test
    void aClientsSecretIsExchangedOnceForManyRequests() throws Exception {
        bind(oauth2(Grant.CLIENT_CREDENTIALS, false), SECRET, NEAR);
        List<String> said = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<String> one = () -> rig.curl("-i", "-H", "Authorization: mine", URL + "/echo");
            List<Future<String>> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                all.add(clients.submit(one));
            }
            for (Future<String> each : all) {
                said.add(each.get());
            }
        }
        String token = bearer(0);
        assertThat(token.split("\\.", -1)).as("a token of the server").hasSize(3);
        for (int i = 0; i < 6; i++) {
            assertThat(bearer(i)).isEqualTo(token);
            assertThat(said.get(i))
                    .contains(" 200")
                    .contains("x-authorization: Bearer ***")
                    .doesNotContain(token)
                    .doesNotContain(SECRET);
        }
        String basic =
                Base64.getEncoder()
                        .encodeToString(
                                ("the+client:" + URLEncoder.encode(SECRET, UTF_8)).getBytes(UTF_8));
        assertThat(asked())
                .startsWith("Basic " + basic + "\n")
                .contains("grant_type=client_credentials")
                .contains("scope=read+write")
                .doesNotContain("client_secret");
        assertThat(wasAskedMore()).isFalse();
    }

    @Test
    void aRefusedTokenIsReplacedAtTheNextRequestAndNotByEachRefusal() throws Exception {
        bind(oauth2(Grant.CLIENT_CREDENTIALS, true), SECRET, NEAR);
        assertThat(rig.curl("-i", URL + "/401")).contains(" 401");
        assertThat(rig.curl("-i", URL + "/401")).contains(" 401");
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
        assertThat(bearer(1)).isNotEqualTo(bearer(0));
        assertThat(bearer(2)).isEqualTo(bearer(1));
        assertThat(asked())
                .startsWith("null\n")
                .contains("client_id=the+client")
                .contains("client_secret=" + URLEncoder.encode(SECRET, UTF_8));
        assertThat(asked()).contains("client_credentials");
        assertThat(wasAskedMore()).isFalse();
    }

    @Test
    void aRefreshTokenIsUsedAndOneThatEndedIsRefused() throws Exception {
        String refresh = refreshToken();
        bind(oauth2(Grant.REFRESH_TOKEN, false), refresh + "\n" + SECRET + "\n", NEAR);
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200").doesNotContain(refresh);
        assertThat(bearer(0)).isNotEqualTo(refresh);
        assertThat(asked()).startsWith("null").contains("authorization_code");
        assertThat(asked())
                .startsWith("Basic ")
                .contains("grant_type=refresh_token")
                .contains("refresh_token=" + URLEncoder.encode(refresh, UTF_8));
        bind(oauth2(Grant.REFRESH_TOKEN, false), refresh + "\n" + SECRET, NEAR);
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
        assertThat(asked())
                .as("the one that the server handed out meanwhile is not kept")
                .contains("refresh_token=" + URLEncoder.encode(refresh, UTF_8));
        front.close();
        try (TestServer strict = new TestServer(TokenIT::refuse)) {
            front = new TlsFront(rig.outsideRoot, LOGIN, loginAddress, 443, strict.port());
            bind(oauth2(Grant.REFRESH_TOKEN, false), refresh, NEAR);
            assertThat(rig.curl("-i", URL + "/echo"))
                    .contains(" 502")
                    .contains("space-refused: TOKEN_REFUSED")
                    .doesNotContain(refresh);
            assertThat(rig.curl("-i", URL + "/echo")).contains(" 502");
            assertThat(strict.accepted()).as("a refusal is believed for a while").isEqualTo(1);
        }
        assertThat(origin.seen()).hasSize(2);
    }

    /** As servers do for whom a refresh token is good once. */
    private static void refuse(Socket client) throws IOException {
        StringBuilder request = new StringBuilder();
        byte[] piece = new byte[8192];
        while (request.indexOf("refresh_token=") < 0) {
            int read = client.getInputStream().read(piece);
            if (read < 0) {
                return;
            }
            request.append(new String(piece, 0, read, UTF_8));
        }
        String body = "{\"error\":\"invalid_grant\"}";
        client.getOutputStream()
                .write(
                        ("HTTP/1.1 400 Bad Request\r\ncontent-length: "
                                        + body.length()
                                        + "\r\n\r\n"
                                        + body)
                                .getBytes(UTF_8));
    }

    /** As a user's browser and an application get one. */
    private String refreshToken() throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        String base = "http://127.0.0.1:" + login.baseUrl().port() + "/default/";
        String redirect = "http://127.0.0.1:1/back";
        HttpResponse<String> agreed =
                client.send(
                        HttpRequest.newBuilder(
                                        URI.create(
                                                base
                                                        + "authorize?response_type=code&state=s"
                                                        + "&client_id=c&scope=openid&redirect_uri="
                                                        + URLEncoder.encode(redirect, UTF_8)))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        Matcher code =
                Pattern.compile("code=([^&]+)")
                        .matcher(agreed.headers().firstValue("location").orElseThrow());
        assertThat(code.find()).isTrue();
        RecordedRequest _ = login.takeRequest(5, TimeUnit.SECONDS);
        String form =
                "grant_type=authorization_code&client_id=c&code="
                        + code.group(1)
                        + "&redirect_uri="
                        + URLEncoder.encode(redirect, UTF_8);
        HttpResponse<String> tokens =
                client.send(
                        HttpRequest.newBuilder(URI.create(base + "token"))
                                .header("content-type", "application/x-www-form-urlencoded")
                                .POST(HttpRequest.BodyPublishers.ofString(form))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        Matcher refresh =
                Pattern.compile("\"refresh_token\"\\s*:\\s*\"([^\"]+)\"").matcher(tokens.body());
        assertThat(refresh.find()).isTrue();
        return refresh.group(1);
    }

    @Test
    void anEndpointThatIsAwayOrStrangeOrNearIsToldAndUsedWhenItIsBack() throws Exception {
        bind(oauth2(Grant.CLIENT_CREDENTIALS, false), SECRET);
        assertThat(rig.curl("-i", URL + "/echo"))
                .as("a private address needs a rule of the session")
                .contains(" 503")
                .contains("space-refused: TOKEN_UNAVAILABLE");
        front.close();
        bind(oauth2(Grant.CLIENT_CREDENTIALS, false), SECRET, NEAR);
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 503").contains("TOKEN_UNAVAILABLE");
        front = front(Authority.root(Instant.now()));
        bind(oauth2(Grant.CLIENT_CREDENTIALS, false), SECRET, NEAR);
        assertThat(rig.curl("-i", URL + "/echo"))
                .as("another authority's certificate")
                .contains(" 503")
                .contains("TOKEN_UNAVAILABLE");
        assertThat(wasAskedMore()).isFalse();
        assertThat(origin.seen()).isEmpty();
        front.close();
        front = front(rig.outsideRoot);
        bind(oauth2(Grant.CLIENT_CREDENTIALS, false), SECRET, NEAR);
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
    }

    @Test
    void anAppSignsItsOwnTokenAndAnAccountExchangesOne() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair keys = generator.generateKeyPair();
        String pem =
                "-----BEGIN PRIVATE KEY-----\n"
                        + Base64.getMimeEncoder().encodeToString(keys.getPrivate().getEncoded())
                        + "\n-----END PRIVATE KEY-----\n";
        bind(new Injection.Jwt(Algorithm.RS256, "12345", "", "", "", "", Optional.empty()), pem);
        String said = rig.curl("-i", URL + "/echo");
        String own = bearer(0);
        assertThat(said).contains(" 200").doesNotContain(own);
        assertThat(new String(Base64.getUrlDecoder().decode(own.split("\\.", -1)[1]), UTF_8))
                .startsWith("{\"iss\":\"12345\",\"iat\":");
        assertThat(wasAskedMore()).isFalse();
        bind(
                new Injection.Jwt(
                        Algorithm.RS256, "a@b.example", "", "", "read", "k", Optional.of(url())),
                pem,
                NEAR);
        assertThat(rig.curl("-i", URL + "/echo")).contains(" 200");
        Matcher assertion =
                Pattern.compile(
                                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
                                        + "&assertion=([A-Za-z0-9._-]+)")
                        .matcher(asked());
        assertThat(assertion.find()).isTrue();
        assertThat(bearer(1)).isNotEqualTo(assertion.group(1)).contains(".");
    }
}
