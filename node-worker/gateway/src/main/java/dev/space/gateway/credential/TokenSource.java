package dev.space.gateway.credential;

import dev.space.gateway.credential.MintedToken.NoToken;
import dev.space.gateway.credential.MintedToken.Token;
import dev.space.gateway.net.Refusal;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.Injection;
import dev.space.model.credential.TokenUrl;
import dev.space.model.egress.EgressReason;
import dev.space.model.json.JsonTree;
import dev.space.model.json.JsonTree.Node;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Exchanges secrets for tokens: OAuth 2 (RFC 6749), and JWTs, as they are or exchanged (7523). */
final class TokenSource {

    private static final Logger LOG = LoggerFactory.getLogger(TokenSource.class);

    private static final String BEARER_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

    /** Where an answer does not say how long its token lives. */
    private static final long SECONDS_DEFAULT = 300;

    private static final int ANSWER_CHARS_MAX = 64 << 10;
    private static final int TOKEN_CHARS_MAX = 16 << 10;
    private static final Pattern TOKEN =
            Pattern.compile("[\\x21-\\x7e]{1," + TOKEN_CHARS_MAX + "}");

    /** What RFC 6749 lets a server say; anything else is not repeated. */
    private static final Pattern ERROR =
            Pattern.compile(
                    "invalid_(request|client|grant|scope|target)|unauthorized_client"
                            + "|unsupported_grant_type");

    private final TokenClient client;
    private final BiPredicate<String, Integer> mayBePrivate;
    private final LongSupplier now;

    /**
     * For one session.
     *
     * @param mayBePrivate whether the session's policy allows a private address for host and port
     * @param now seconds since 1970
     */
    TokenSource(TokenClient client, BiPredicate<String, Integer> mayBePrivate, LongSupplier now) {
        this.client = client;
        this.mayBePrivate = mayBePrivate;
        this.now = now;
    }

    /** Fails with {@link NoToken}. */
    CompletableFuture<Token> oauth2(String credential, Injection.OAuth2 use, Secret secret) {
        Injection.OAuth2.Parts parts = use.parts(secret.text());
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", use.grant().wire());
        if (!parts.refreshToken().isEmpty()) {
            form.put("refresh_token", parts.refreshToken());
        }
        put(form, "scope", use.scope());
        put(form, "audience", use.audience());
        boolean header = !parts.clientSecret().isEmpty() && !use.clientAuthInBody();
        if (!header) {
            form.put("client_id", use.clientId());
            put(form, "client_secret", parts.clientSecret());
        }
        String authorization =
                header ? basic(encoded(use.clientId()) + ":" + encoded(parts.clientSecret())) : "";
        return exchanged(credential, use.tokenUrl(), form, authorization, parts.refreshToken());
    }

    /** Fails with {@link NoToken}. */
    CompletableFuture<Token> jwt(String credential, Injection.Jwt use, Secret secret) {
        String signed;
        try {
            signed = SignedJwt.of(use, secret, now.getAsLong());
        } catch (IllegalArgumentException unusable) {
            return CompletableFuture.failedFuture(
                    new NoToken(
                            EgressReason.CREDENTIAL_UNAVAILABLE,
                            String.valueOf(unusable.getMessage())));
        }
        Optional<TokenUrl> url = use.tokenUrl();
        if (url.isEmpty()) {
            return CompletableFuture.completedFuture(new Token(signed, SignedJwt.SECONDS));
        }
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", BEARER_GRANT);
        form.put("assertion", signed);
        return exchanged(credential, url.get(), form, "", "");
    }

    private static void put(Map<String, String> form, String name, String value) {
        if (!value.isEmpty()) {
            form.put(name, value);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String basic(String pair) {
        return "Basic "
                + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.US_ASCII));
    }

    private CompletableFuture<Token> exchanged(
            String credential,
            TokenUrl url,
            Map<String, String> form,
            String authorization,
            String refreshToken) {
        String body =
                form.entrySet().stream()
                        .map(e -> e.getKey() + "=" + encoded(e.getValue()))
                        .collect(Collectors.joining("&"));
        boolean near = mayBePrivate.test(url.host(), url.port());
        CompletableFuture<Token> token = new CompletableFuture<>();
        var _ =
                client.post(new TokenClient.Form(url, body, authorization, near))
                        .whenComplete((answer, failure) -> {
                            if (answer == null) {
                                token.completeExceptionally(unreachable(url, failure));
                                return;
                            }
                            try {
                                token.complete(read(credential, url, answer, refreshToken));
                            } catch (NoToken none) {
                                token.completeExceptionally(none);
                            }
                        });
        return token;
    }

    private static NoToken unreachable(TokenUrl url, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
        String why =
                cause instanceof Refusal refusal
                        ? refusal.reason() + ": " + refusal.getMessage()
                        : String.valueOf(cause);
        return new NoToken(EgressReason.TOKEN_UNAVAILABLE, url.authority() + ": " + why);
    }

    private static Token read(
            String credential, TokenUrl url, TokenClient.Answer answer, String refreshToken)
            throws NoToken {
        int status = answer.status();
        Optional<Node> document = document(answer);
        if (status != 200) {
            boolean passing = status >= 500 || status == 408 || status == 429;
            throw new NoToken(
                    passing ? EgressReason.TOKEN_UNAVAILABLE : EgressReason.TOKEN_REFUSED,
                    url.authority()
                            + " answers "
                            + status
                            + text(document, "error")
                                    .filter(e -> ERROR.matcher(e).matches())
                                    .map(e -> " " + e)
                                    .orElse(""));
        }
        String token = text(document, "access_token").orElse("");
        String type = text(document, "token_type").orElse("bearer");
        if (!TOKEN.matcher(token).matches() || !type.equalsIgnoreCase("bearer")) {
            throw new NoToken(
                    EgressReason.TOKEN_REFUSED,
                    url.authority() + " answers 200 without a bearer token");
        }
        if (text(document, "refresh_token").filter(t -> !t.equals(refreshToken)).isPresent()
                && !refreshToken.isEmpty()) {
            LOG.warn(
                    "credential {}: {} hands out another refresh token, which is not kept: if it"
                            + " ends the old one with that, this credential works once",
                    credential,
                    url.authority());
        }
        return new Token(token, seconds(document));
    }

    private static Optional<Node> document(TokenClient.Answer answer) {
        try {
            return Optional.of(
                    JsonTree.readAny(answer.body(), "answer", ANSWER_CHARS_MAX, TOKEN_CHARS_MAX));
        } catch (SpaceException noJson) {
            return Optional.empty();
        }
    }

    private static Optional<String> text(Optional<Node> document, String field) {
        try {
            return document.flatMap(d -> d.field(field)).map(node -> node.text(t -> t));
        } catch (SpaceException another) {
            return Optional.empty();
        }
    }

    /** Some servers write the number as a text. */
    private static long seconds(Optional<Node> document) {
        try {
            return document.flatMap(d -> d.field("expires_in"))
                    .map(node ->
                            node.value() instanceof String text
                                    ? Long.parseLong(text)
                                    : node.number(0, Integer.MAX_VALUE))
                    .orElse(SECONDS_DEFAULT);
        } catch (SpaceException | NumberFormatException another) {
            return SECONDS_DEFAULT;
        }
    }
}
