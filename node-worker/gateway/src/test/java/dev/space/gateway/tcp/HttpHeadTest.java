package dev.space.gateway.tcp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.egress.EgressReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What passes the check, and that a server which is as strict as possible reads the same in it. */
final class HttpHeadTest {

    private static final int ROUNDS = 10_000;
    private static final Target TARGET = new Target(Optional.of("a.example"), 0, 80);
    private static final String HOST = "Host: a.example~";

    /** Requests that pass, as they are written to the server; a fault ends the list. */
    private record Passed(String bytes, Optional<EgressReason> fault) {}

    private static Passed pass(byte[] input, int piece) {
        EmbeddedChannel in = new EmbeddedChannel(new StrictDecoder());
        EmbeddedChannel out = new EmbeddedChannel(new HttpRequestEncoder());
        for (int at = 0; at < input.length; at += piece) {
            in.writeInbound(Unpooled.copiedBuffer(input, at, Math.min(piece, input.length - at)));
        }
        Optional<EgressReason> fault = Optional.empty();
        for (HttpObject o = in.readInbound(); o != null; o = in.readInbound()) {
            if (o.decoderResult().isFailure()) {
                fault = Optional.of(EgressReason.HTTP_MALFORMED);
            } else if (o instanceof HttpRequest r) {
                fault = Optional.ofNullable(HttpCheck.fault(r, TARGET));
                HttpCheck.removeUpgrade(r);
            }
            if (fault.isPresent()) {
                ReferenceCountUtil.release(o);
                break;
            }
            out.writeOutbound(o);
        }
        StringBuilder bytes = new StringBuilder();
        for (ByteBuf b = out.readOutbound(); b != null; b = out.readOutbound()) {
            bytes.append(b.toString(ISO_8859_1));
            b.release();
        }
        in.finishAndReleaseAll();
        out.finishAndReleaseAll();
        return new Passed(bytes.toString(), fault);
    }

    private static Passed pass(String text) {
        return pass(text.replace("~", "\r\n").getBytes(ISO_8859_1), 1 << 16);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET / HTTP/1.1~Host: b.example~~ | HTTP_HOST_MISMATCH",
                "GET / HTTP/1.1~~ | HTTP_HOST_MISMATCH",
                "GET / HTTP/1.1~Host: a.example~Host: a.example~~ | HTTP_HOST_MISMATCH",
                "GET / HTTP/1.1~Host: a.example:81~~ | HTTP_HOST_MISMATCH",
                "GET / HTTP/1.1~Host: a.example, b~~ | HTTP_HOST_MISMATCH",
                "GET / HTTP/1.1~Host: x@a.example~~ | HTTP_HOST_MISMATCH",
                "GET http://b.example/ HTTP/1.1~Host: a.example~~ | HTTP_MALFORMED",
                "CONNECT a.example:80 HTTP/1.1~Host: a.example~~ | HTTP_MALFORMED",
                "PRI * HTTP/2.0~~SM~~ | HTTP_MALFORMED",
                "GET * HTTP/1.1~Host: a.example~~ | HTTP_MALFORMED",
                "GET /~~ | HTTP_MALFORMED",
                "GET / HTTP/3.7~Host: a.example~~ | HTTP_MALFORMED",
                "get / HTTP/1.1~Host: a.example~~ | HTTP_MALFORMED",
                "POST / HTTP/1.1~Host: a.example~Content-Length: 1~Transfer-Encoding: chunked~~0~~ | HTTP_MALFORMED",
                "POST / HTTP/1.1~Host: a.example~Content-Length: 1~Content-Length: 2~~ab | HTTP_MALFORMED",
                "POST / HTTP/1.1~Host: a.example~Content-Length: +1~~a | HTTP_MALFORMED",
                "POST / HTTP/1.1~Host: a.example~Transfer-Encoding: gzip, chunked~~0~~ | HTTP_MALFORMED",
                "POST / HTTP/1.1~Host: a.example~Transfer-Encoding: xchunked~~0~~ | HTTP_MALFORMED",
                "POST / HTTP/1.0~Host: a.example~Transfer-Encoding: chunked~~0~~ | HTTP_MALFORMED",
                "GET / HTTP/1.1~Host : a.example~~ | HTTP_MALFORMED",
                "GET / HTTP/1.1~X\u0000: a~Host: a.example~~ | HTTP_MALFORMED",
            })
    void refuses(String request, EgressReason reason) {
        assertThat(pass(request).fault()).contains(reason);
        assertThat(pass(request).bytes()).isEmpty();
    }

    @Test
    void passesWhatIsPlain() {
        for (String plain :
                List.of(
                        "GET /a?b=c HTTP/1.1~" + HOST + "~",
                        "GET / HTTP/1.0~Host: A.Example:80~~",
                        "OPTIONS * HTTP/1.1~" + HOST + "~",
                        "POST / HTTP/1.1~" + HOST + "Content-Length: 2~~ab",
                        "POST / HTTP/1.1~" + HOST + "Transfer-Encoding: chunked~~" + "2~ab~0~~")) {
            Passed passed = pass(plain);
            assertThat(passed.fault()).as(plain).isEmpty();
            assertThat(passed.bytes().replace("\r\n", "~")).isEqualToIgnoringCase(plain);
        }
    }

    @Test
    void aSecondRequestInTheSameBytesIsJudgedToo() {
        Passed passed = pass("GET /1 HTTP/1.1~" + HOST + "~GET /2 HTTP/1.1~Host: b.example~~");
        assertThat(passed.fault()).contains(EgressReason.HTTP_HOST_MISMATCH);
        assertThat(passed.bytes()).contains("/1").doesNotContain("/2");
    }

    @Test
    void noOtherProtocolIsOffered() {
        Passed passed =
                pass(
                        "GET / HTTP/1.1~"
                                + HOST
                                + "Connection: Upgrade, HTTP2-Settings, close~"
                                + "Upgrade: h2c~HTTP2-Settings: AAMAAABk~~");
        assertThat(passed.fault()).isEmpty();
        assertThat(passed.bytes().toLowerCase(Locale.ROOT))
                .contains("connection: close")
                .doesNotContain("upgrade")
                .doesNotContain("http2-settings");
    }

    /** A strict reader of its own finds in what passed exactly requests for the host. */
    @Test
    void whatPassesIsReadTheSameByAStrictServer() {
        for (int seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            byte[] input = damaged(random);
            Passed passed = pass(input, 1 + random.nextInt(64));
            for (String head : heads(passed.bytes(), seed)) {
                assertThat(head)
                        .as("seed %s", seed)
                        .matches("(?s)[A-Z_-]+ (/\\S*|\\*) HTTP/1\\.[01]\r\n.*");
                assertThat(
                                head.lines()
                                        .filter(l -> l.toLowerCase(Locale.ROOT).startsWith("host:"))
                                        .map(l -> l.substring(5).strip().toLowerCase(Locale.ROOT)))
                        .as("seed %s", seed)
                        .hasSize(1)
                        .allMatch(h -> h.matches("a\\.example\\.?(:80)?"));
            }
        }
    }

    private static byte[] damaged(Random random) {
        List<String> pieces = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            pieces.add(
                    switch (random.nextInt(3)) {
                        case 0 -> "GET /a HTTP/1.1\r\nHost: a.example\r\nX: y\r\n\r\n";
                        case 1 ->
                                "POST /b HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello";
                        default ->
                                "PUT /c HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:"
                                        + " chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
                    });
        }
        StringBuilder text = new StringBuilder(String.join("", pieces));
        String odd = "\r\n \t:;,/\0\u000b\u0085%GETHOST0123456789abcdefx";
        for (int i = random.nextInt(5); i > 0; i--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(3)) {
                case 0 -> text.deleteCharAt(at);
                case 1 -> text.insert(at, odd.charAt(random.nextInt(odd.length())));
                default -> text.setCharAt(at, odd.charAt(random.nextInt(odd.length())));
            }
        }
        return text.toString().getBytes(ISO_8859_1);
    }

    /** Splits by length and chunks as RFC 9112 has it, with no leniency at all. */
    private static List<String> heads(String bytes, int seed) {
        List<String> heads = new ArrayList<>();
        int at = 0;
        while (at < bytes.length()) {
            int end = bytes.indexOf("\r\n\r\n", at);
            assertThat(end).as("seed %s: a head ends in %s", seed, bytes).isPositive();
            String head = bytes.substring(at, end + 4);
            heads.add(head);
            at = end + 4;
            String lower = head.toLowerCase(Locale.ROOT);
            if (lower.contains("\r\ntransfer-encoding:")) {
                assertThat(lower).doesNotContain("\r\ncontent-length:");
                at = chunks(bytes, at);
            } else if (lower.contains("\r\ncontent-length:")) {
                int value = lower.indexOf("\r\ncontent-length:") + 17;
                String length = lower.substring(value, lower.indexOf("\r\n", value)).strip();
                assertThat(length).as("seed %s", seed).matches("[0-9]+");
                at += Integer.parseInt(length);
            }
        }
        return heads;
    }

    private static int chunks(String bytes, int start) {
        int at = start;
        while (at < bytes.length()) {
            int end = bytes.indexOf("\r\n", at);
            if (end < 0) {
                return bytes.length();
            }
            int length = Integer.parseInt(bytes.substring(at, end), 16);
            at = end + 2 + length;
            if (length == 0) {
                int trailers = bytes.indexOf("\r\n\r\n", at - 2);
                return trailers < 0 ? bytes.length() : trailers + 4;
            }
            at += 2;
        }
        return at;
    }

    @Test
    void bodiesAreNotGathered() {
        EmbeddedChannel in = new EmbeddedChannel(new StrictDecoder());
        in.writeInbound(
                Unpooled.copiedBuffer(
                        "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 99999999\r\n\r\n",
                        ISO_8859_1));
        in.writeInbound(Unpooled.wrappedBuffer(new byte[100_000]));
        int pieces = 0;
        for (HttpObject o = in.readInbound(); o != null; o = in.readInbound()) {
            if (o instanceof HttpContent c && c.content().isReadable()) {
                assertThat(c.content().readableBytes()).isLessThanOrEqualTo(32 << 10);
                pieces++;
            }
            ReferenceCountUtil.release(o);
        }
        assertThat(pieces).isEqualTo(4);
        in.finishAndReleaseAll();
    }
}
