package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Injection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/** A grant in one request, by its kind of injection. */
final class GrantUse implements Use {

    private static final String BASIC = "Basic ";
    private static final String BEARER = "Bearer ";

    private final CredentialGrant grant;
    private final Secret secret;
    private final Texts texts;
    private final LongSupplier now;
    private final Runnable onUnauthorized;

    /**
     * For one request.
     *
     * @param secret what goes into it: the grant's own, or a token for it
     * @param now seconds since 1970
     * @param onUnauthorized the server does not take it
     */
    GrantUse(
            CredentialGrant grant,
            Secret secret,
            Texts texts,
            LongSupplier now,
            Runnable onUnauthorized) {
        this.grant = grant;
        this.secret = secret;
        this.texts = texts;
        this.now = now;
        this.onUnauthorized = onUnauthorized;
    }

    @Override
    public String id() {
        return grant.id();
    }

    @Override
    public void intoHead(HttpRequest request) {
        switch (grant.use().injection()) {
            case Injection.Header(String name, String prefix) ->
                    request.headers().set(name, prefix + line());
            case Injection.Basic(String user) ->
                    request.headers()
                            .set(HttpHeaderNames.AUTHORIZATION, basic(user + ":" + secret.text()));
            case Injection.Query(String name) ->
                    request.setUri(Query.with(request.uri(), name, encoded()));
            case Injection.Placeholder(String text) -> {
                int query = request.uri().indexOf('?');
                if (query >= 0) {
                    request.setUri(
                            request.uri().substring(0, query)
                                    + request.uri().substring(query).replace(text, encoded()));
                }
                replace(request.headers(), text);
            }
            case Injection.OAuth2 _, Injection.Jwt _ ->
                    request.headers().set(HttpHeaderNames.AUTHORIZATION, BEARER + line());
            case Injection.Sigv4 aws -> {
                AwsRequest.strip(request);
                if (!wantsBody(request)) {
                    AwsRequest.sign(request, aws, secret, now.getAsLong());
                }
            }
        }
    }

    private void replace(HttpHeaders headers, String text) {
        for (String name : List.copyOf(headers.names())) {
            List<String> values = headers.getAll(name);
            List<String> replaced = values.stream().map(v -> replace(v, text)).toList();
            if (!replaced.equals(values) && !name.equalsIgnoreCase("host")) {
                headers.set(name, replaced);
            }
        }
    }

    /** Also inside of what clients make of a user and a password. */
    private String replace(String value, String text) {
        if (value.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            try {
                byte[] inside = Base64.getDecoder().decode(value.substring(BASIC.length()).strip());
                String plain = new String(inside, StandardCharsets.UTF_8);
                return plain.contains(text) ? basic(plain.replace(text, secret.text())) : value;
            } catch (IllegalArgumentException e) {
                return value.replace(text, line());
            }
        }
        return value.replace(text, line());
    }

    private static String basic(String pair) {
        return BASIC + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes as they are, for a header's line. */
    private String line() {
        return new String(secret.bytes(), StandardCharsets.ISO_8859_1);
    }

    private String encoded() {
        return URLEncoder.encode(secret.text(), StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public boolean wantsBody(HttpRequest request) {
        boolean concerned =
                switch (grant.use().injection()) {
                    case Injection.Placeholder _ ->
                            !request.headers().contains(HttpHeaderNames.CONTENT_ENCODING);
                    case Injection.Sigv4 aws -> AwsRequest.needsBody(aws);
                    default -> false;
                };
        return concerned
                && (HttpUtil.isTransferEncodingChunked(request)
                        || HttpUtil.isContentLengthSet(request));
    }

    @Override
    public ByteBuf intoBody(ByteBufAllocator alloc, HttpRequest request, ByteBuf body) {
        return switch (grant.use().injection()) {
            case Injection.Placeholder(String text) ->
                    replace(alloc, request.headers(), body, text);
            case Injection.Sigv4 aws -> {
                AwsRequest.sign(request, aws, secret, now.getAsLong(), body);
                yield body;
            }
            default -> body;
        };
    }

    private ByteBuf replace(
            ByteBufAllocator alloc, HttpHeaders headers, ByteBuf body, String text) {
        String plain = body.toString(StandardCharsets.ISO_8859_1);
        if (!plain.contains(text)) {
            return body;
        }
        body.release();
        String type = headers.get(HttpHeaderNames.CONTENT_TYPE, "").toLowerCase(Locale.ROOT);
        String value =
                type.startsWith("application/x-www-form-urlencoded")
                        ? encoded()
                        : type.contains("json") ? Texts.json(line()) : line();
        String replaced = plain.replace(text, value);
        return alloc.buffer(replaced.length())
                .writeBytes(replaced.getBytes(StandardCharsets.ISO_8859_1));
    }

    @Override
    public void answered(int status) {
        if (status == HttpResponseStatus.UNAUTHORIZED.code()) {
            onUnauthorized.run();
        }
    }

    @Override
    public void outOf(HttpHeaders headers) {
        for (String name : List.copyOf(headers.names())) {
            List<String> values = headers.getAll(name);
            List<String> clean = values.stream().map(texts::scrubbed).toList();
            if (!clean.equals(values)) {
                headers.set(name, clean);
            }
        }
    }

    @Override
    public Scrubber scrubber() {
        return new Scrubber(texts);
    }
}
