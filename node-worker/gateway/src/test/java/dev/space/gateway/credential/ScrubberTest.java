package dev.space.gateway.credential;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.net.URLEncoder;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ScrubberTest {

    private static final ByteBufAllocator ALLOC = UnpooledByteBufAllocator.DEFAULT;
    private static final String SECRET = "s3cr3t/+value&x\"y";

    private static Texts texts(String secret) {
        return Texts.of(secret.getBytes(ISO_8859_1));
    }

    /** The stream in pieces of random sizes, also none. */
    private static String through(Texts texts, String stream, Random random) {
        Scrubber scrubber = new Scrubber(texts);
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < stream.length()) {
            int end = Math.min(stream.length(), at + random.nextInt(12));
            take(out, scrubber.next(ALLOC, bytes(stream.substring(at, end))));
            at = end;
        }
        take(out, scrubber.last(ALLOC));
        return out.toString();
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, ISO_8859_1);
    }

    private static void take(StringBuilder out, ByteBuf bytes) {
        out.append(bytes.toString(ISO_8859_1));
        bytes.release();
    }

    @Test
    void everyFormIsFoundHoweverTheStreamIsCut() {
        Random random = new Random(7);
        String basic = Base64.getEncoder().encodeToString(("user:" + SECRET).getBytes(ISO_8859_1));
        List<String> forms =
                List.of(
                        SECRET,
                        Base64.getEncoder().encodeToString(SECRET.getBytes(ISO_8859_1)),
                        URLEncoder.encode(SECRET, ISO_8859_1),
                        HexFormat.of().formatHex(SECRET.getBytes(ISO_8859_1)),
                        Texts.json(SECRET));
        for (String form : forms) {
            for (int i = 0; i < 50; i++) {
                String stream = "before " + form + form + " after";
                String out = through(texts(SECRET), stream, random);
                assertThat(out).hasSameSizeAs(stream).startsWith("before *").endsWith(" after");
                assertThat(out.replace("*", "").length())
                        .as("%s became %s", stream, out)
                        .isLessThanOrEqualTo("before  after".length() + 8);
            }
        }
        assertThat(through(texts(SECRET), basic, random)).containsPattern("\\*{15,}");
    }

    @Test
    void nothingElseIsChangedOrHeldBack() {
        Random random = new Random(11);
        for (int i = 0; i < 2000; i++) {
            String secret = "aab" + "ab".repeat(random.nextInt(4)) + "aabb";
            StringBuilder stream = new StringBuilder();
            for (int n = random.nextInt(200); n > 0; n--) {
                stream.append((char) ('a' + random.nextInt(2)));
            }
            String expected = stream.toString().replace(secret, "*".repeat(secret.length()));
            assertThat(through(texts(secret), stream.toString(), random)).isEqualTo(expected);
        }
        Scrubber scrubber = new Scrubber(texts(SECRET));
        StringBuilder out = new StringBuilder();
        take(out, scrubber.next(ALLOC, bytes("data: one\n\n")));
        assertThat(out.toString()).as("at once").isEqualTo("data: one\n\n");
    }

    @Test
    void shortSecretsAreLeftAlone() {
        assertThat(texts("abc").scrubbed("abcabc")).isEqualTo("abcabc");
        assertThat(texts(SECRET).scrubbed("x" + SECRET)).isEqualTo("x" + "*".repeat(17));
    }
}
