package dev.space.gateway.credential;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The forms in which a secret may come back: as it is, in base64 (wherever it stands in what was
 * encoded), percent-encoded, in hex, in JSON. Short ones are not looked for: they would be found in
 * what has nothing to do with them.
 */
public final class Texts {

    /** A secret, or a form of it, that is shorter is left alone. */
    static final int BYTES_MIN = 6;

    /** Of a secret that is longer, only the first forms are looked for. */
    private static final int RICH_BYTES_MAX = 2 << 10;

    private final Text[] all;

    private Texts(List<byte[]> forms) {
        all = forms.stream().map(Text::new).toArray(Text[]::new);
    }

    /** All forms of a secret. */
    static Texts of(byte[] secret) {
        Set<String> forms = new LinkedHashSet<>();
        String plain = new String(secret, StandardCharsets.ISO_8859_1);
        forms.add(plain);
        for (int before = 0; before < 3; before++) {
            forms.add(inside(Base64.getEncoder(), secret, before));
            forms.add(inside(Base64.getUrlEncoder(), secret, before));
        }
        if (secret.length <= RICH_BYTES_MAX) {
            String percent = URLEncoder.encode(plain, StandardCharsets.ISO_8859_1);
            forms.add(percent);
            forms.add(percent.replace("+", "%20"));
            forms.add(lowerPercent(percent));
            forms.add(HexFormat.of().formatHex(secret));
            forms.add(HexFormat.of().withUpperCase().formatHex(secret));
            forms.add(json(plain));
            forms.add(json(plain).replace("/", "\\/"));
        }
        return new Texts(
                forms.stream()
                        .filter(f -> f.length() >= BYTES_MIN)
                        .map(f -> f.getBytes(StandardCharsets.ISO_8859_1))
                        .toList());
    }

    /** What of the encoded text depends on the secret alone, so many bytes standing before it. */
    private static String inside(Base64.Encoder encoder, byte[] secret, int before) {
        byte[] moved = new byte[before + secret.length];
        System.arraycopy(secret, 0, moved, before, secret.length);
        String text = encoder.withoutPadding().encodeToString(moved);
        return text.substring((8 * before + 5) / 6, 8 * moved.length / 6);
    }

    private static String lowerPercent(String text) {
        StringBuilder lower = new StringBuilder(text);
        for (int i = text.indexOf('%'); i >= 0; i = text.indexOf('%', i + 1)) {
            lower.replace(i, i + 3, text.substring(i, i + 3).toLowerCase(Locale.ROOT));
        }
        return lower.toString();
    }

    static String json(String plain) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < plain.length(); i++) {
            char c = plain.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < 0x20) {
                        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        return text.toString();
    }

    int count() {
        return all.length;
    }

    Text text(int i) {
        return all[i];
    }

    /** The same length with stars where one of them was. */
    public String scrubbed(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
        Scrubber scrubber = new Scrubber(this);
        int _ = scrubber.search(bytes, 0);
        return scrubber.found() == 0 ? value : new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public String toString() {
        return "Texts(" + all.length + ")";
    }

    /** One text, with what Knuth, Morris and Pratt need. */
    static final class Text {

        private final byte[] bytes;
        private final int[] fallback;

        Text(byte[] bytes) {
            this.bytes = bytes;
            fallback = new int[bytes.length + 1];
            for (int i = 1, k = 0; i < bytes.length; i++) {
                while (k > 0 && bytes[i] != bytes[k]) {
                    k = fallback[k];
                }
                k += bytes[i] == bytes[k] ? 1 : 0;
                fallback[i + 1] = k;
            }
        }

        byte first() {
            return bytes[0];
        }

        int length() {
            return bytes.length;
        }

        int after(int state, byte next) {
            int k = state;
            while (k > 0 && next != bytes[k]) {
                k = fallback[k];
            }
            return next == bytes[k] ? k + 1 : 0;
        }
    }
}
