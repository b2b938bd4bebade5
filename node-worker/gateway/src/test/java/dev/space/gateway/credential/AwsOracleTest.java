package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.SdkHttpFullRequest;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** Random requests, each signed here and by AWS's own library: the same signature. */
final class AwsOracleTest {

    private static final int SEEDS = 500;
    private static final String KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    private static final List<String> PIECES =
            List.of("a", "B9", "~", " ", "(x)", "é", "%", "+", "=", "&", "ü/", ":", "a b", "'");
    private static final Instant AT = Instant.parse("2026-02-03T04:05:06Z");

    @Test
    void bothSignAlike() {
        for (long seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            String service = random.nextBoolean() ? "s3" : "dynamodb";
            Injection.Sigv4 use = new Injection.Sigv4("AKIDEXAMPLE", "eu-central-1", service);
            StringBuilder target = new StringBuilder();
            for (int i = random.nextInt(4); i >= 0; i--) {
                target.append('/').append(encoded(text(random).replace("/", "")));
            }
            String path = target.toString();
            SdkHttpFullRequest.Builder theirs =
                    SdkHttpFullRequest.builder()
                            .method(SdkHttpMethod.POST)
                            .protocol("https")
                            .host("api.example")
                            .encodedPath(path);
            for (int i = random.nextInt(4); i > 0; i--) {
                String name = text(random) + i;
                String value = text(random);
                theirs.putRawQueryParameter(name, value);
                target.append(target.indexOf("?") < 0 ? '?' : '&');
                target.append(encoded(name)).append('=').append(encoded(value));
            }
            HttpRequest ours =
                    new DefaultHttpRequest(
                            HttpVersion.HTTP_1_1, HttpMethod.POST, target.toString());
            ours.headers().set("Host", "api.example").set("Authorization", "Bearer guess");
            ours.headers().set("X-Amz-Date", "19700101T000000Z").set("x-amz-security-token", "t");
            header(ours, theirs, "Content-Type", " application/x;  charset=utf-8");
            header(ours, theirs, "X-Amz-Meta-" + random.nextInt(9), "a   b" + text(random));
            byte[] body = text(random).getBytes(StandardCharsets.UTF_8);
            sign(ours, use, body);
            assertThat(ours.headers().getAll("authorization"))
                    .as("seed %s %s %s", seed, service, target)
                    .containsExactly(theirSignature(theirs.build(), service, body));
            assertThat(ours.headers().contains("x-amz-security-token")).isFalse();
        }
    }

    private static void header(
            HttpRequest ours, SdkHttpFullRequest.Builder theirs, String name, String value) {
        String ascii = value.replaceAll("[^ -~]", "x").strip();
        ours.headers().set(name, ascii);
        theirs.putHeader(name, ascii);
    }

    private static void sign(HttpRequest request, Injection.Sigv4 use, byte[] body) {
        try (Secret key = Secret.ofText("key", KEY)) {
            AwsRequest.strip(request);
            if (AwsRequest.needsBody(use)) {
                ByteBuf bytes = Unpooled.wrappedBuffer(body);
                AwsRequest.sign(request, use, key, AT.getEpochSecond(), bytes);
            } else {
                request.headers().set("x-amz-content-sha256", AwsSignature.hash(body));
                AwsRequest.sign(request, use, key, AT.getEpochSecond());
            }
        }
    }

    private static String theirSignature(SdkHttpRequest request, String service, byte[] body) {
        boolean s3 = service.equals("s3");
        return AwsV4HttpSigner.create()
                .sign(
                        SignRequest.builder(AwsCredentialsIdentity.create("AKIDEXAMPLE", KEY))
                                .request(request)
                                .payload(() -> new java.io.ByteArrayInputStream(body))
                                .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, service)
                                .putProperty(AwsV4HttpSigner.REGION_NAME, "eu-central-1")
                                .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, !s3)
                                .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, !s3)
                                .putProperty(
                                        HttpSigner.SIGNING_CLOCK, Clock.fixed(AT, ZoneOffset.UTC))
                                .build())
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow();
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            text.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return text.toString();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }
}
