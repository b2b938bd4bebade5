package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Takes the sandbox's signature from a request and signs it with the granted key. */
final class AwsRequest {

    private static final String DATE = "x-amz-date";
    private static final String TOKEN = "x-amz-security-token";
    private static final String CONTENT_HASH = "x-amz-content-sha256";
    private static final String STREAMED = "STREAMING-";

    /** Pieces with a checksum behind them: over TLS, and no piece has a signature. */
    private static final String UNSIGNED_PIECES = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

    private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

    private AwsRequest() {}

    /** Whether its body carries signatures of its own, made with a key that the sandbox made up. */
    static boolean isSignedInPieces(HttpRequest request, Injection.Sigv4 use) {
        String said = request.headers().get(CONTENT_HASH, "");
        if (AwsSignature.isS3(use) && said.equals(UNSIGNED_PIECES)) {
            return false;
        }
        return said.startsWith(STREAMED)
                || request.headers().getAll(HttpHeaderNames.CONTENT_ENCODING).stream()
                        .anyMatch(v -> v.toLowerCase(Locale.ROOT).contains("aws-chunked"));
    }

    /** Whether the signature must be over the body; S3 lets TLS protect that. */
    static boolean needsBody(Injection.Sigv4 use) {
        return !AwsSignature.isS3(use);
    }

    /** Takes the sandbox's signature away. */
    static void strip(HttpRequest request) {
        request.setUri(AwsTarget.plain(request.uri()));
        for (String name : List.of("authorization", DATE, TOKEN)) {
            request.headers().remove(name);
        }
    }

    /** Signs a request whose body is not needed, or that has none. */
    static void sign(HttpRequest request, Injection.Sigv4 use, Secret secret, long now) {
        String said = request.headers().get(CONTENT_HASH, "");
        String payload =
                needsBody(use)
                        ? AwsSignature.EMPTY
                        : said.equals(UNSIGNED_PIECES) || HASH.matcher(said).matches()
                                ? said
                                : UNSIGNED;
        sign(request, use, secret, now, payload);
    }

    /** Signs a request with its body. */
    static void sign(
            HttpRequest request, Injection.Sigv4 use, Secret secret, long now, ByteBuf body) {
        sign(request, use, secret, now, AwsSignature.hash(ByteBufUtil.getBytes(body)));
    }

    private static void sign(
            HttpRequest request, Injection.Sigv4 use, Secret secret, long now, String payload) {
        String time = AwsSignature.time(Instant.ofEpochSecond(now));
        HttpHeaders headers = request.headers();
        headers.set(DATE, time).set(CONTENT_HASH, payload);
        headers.set(
                HttpHeaderNames.AUTHORIZATION,
                AwsSignature.authorization(
                        use,
                        secret,
                        time,
                        request.method().name(),
                        request.uri(),
                        signed(headers),
                        payload));
    }

    /** What a server demands to be signed, and what says which body it is. */
    private static SortedMap<String, String> signed(HttpHeaders headers) {
        SortedMap<String, String> signed = new TreeMap<>();
        for (Map.Entry<String, String> header : headers) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            boolean counts =
                    name.equals("host")
                            || name.equals("content-type")
                            || name.equals("content-md5")
                            || name.startsWith("x-amz-");
            if (counts) {
                var _ =
                        signed.merge(
                                name, header.getValue(), (a, b) -> a.strip() + "," + b.strip());
            }
        }
        return signed;
    }
}
