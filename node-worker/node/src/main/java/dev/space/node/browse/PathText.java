package dev.space.node.browse;

import com.google.protobuf.ByteString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Paths as the reader takes and gives them: percent-encoded bytes, so that any name survives. */
final class PathText {

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private PathText() {}

    static String encode(ByteString bytes) {
        StringBuilder text = new StringBuilder(bytes.size());
        for (byte b : bytes) {
            if (b == '/' || b == '.' || b == '_' || isAlphanumeric(b)) {
                text.append((char) b);
            } else {
                HEX.toHexDigits(text.append('%'), b);
            }
        }
        return text.toString();
    }

    private static boolean isAlphanumeric(byte b) {
        return (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z');
    }

    /** The reader encodes the plus sign, so that the decoder's view of it does not matter. */
    static ByteString decode(String text) {
        return ByteString.copyFrom(
                URLDecoder.decode(text, StandardCharsets.ISO_8859_1), StandardCharsets.ISO_8859_1);
    }
}
