package dev.space.model.egress;

import java.text.Normalizer;
import java.util.Locale;

/**
 * Host names in the one form in which they are compared: ASCII labels, lower case, no dot at the
 * end.
 */
public final class HostName {

    /** The longest name that DNS can carry, as text. */
    public static final int CHARS_MAX = 253;

    private static final int LABEL_CHARS_MAX = 63;

    private HostName() {}

    /**
     * The name in its one form; letters outside ASCII become their A-label.
     *
     * @throws IllegalArgumentException with a sentence for people
     */
    public static String of(String text) {
        if (text.isEmpty() || text.length() > CHARS_MAX + 1) {
            throw new IllegalArgumentException("a name has 1 to " + CHARS_MAX + " characters");
        }
        String bare = text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
        StringBuilder name = new StringBuilder();
        for (String label : bare.split("\\.", -1)) {
            name.append(name.isEmpty() ? "" : ".").append(label(label));
        }
        if (name.length() > CHARS_MAX) {
            throw new IllegalArgumentException("a name has 1 to " + CHARS_MAX + " characters");
        }
        checkIsNoAddress(name.toString());
        return name.toString();
    }

    private static String label(String label) {
        String ascii = isAscii(label) ? label.toLowerCase(Locale.ROOT) : aLabel(label);
        if (ascii.isEmpty() || ascii.length() > LABEL_CHARS_MAX) {
            throw new IllegalArgumentException(
                    "a part between dots has 1 to " + LABEL_CHARS_MAX + " characters");
        }
        for (int i = 0; i < ascii.length(); i++) {
            char c = ascii.charAt(i);
            boolean edge = i == 0 || i == ascii.length() - 1;
            if (!(isLetterOrDigit(c) || c == '_' || (c == '-' && !edge))) {
                throw new IllegalArgumentException(
                        "a name consists of letters, digits, dashes inside and dots");
            }
        }
        return ascii;
    }

    private static String aLabel(String label) {
        String folded = Normalizer.normalize(label, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
        boolean plain =
                folded.codePoints()
                        .allMatch(c ->
                                Character.isLetterOrDigit(c)
                                        || c == '-'
                                        || Character.getType(c) == Character.NON_SPACING_MARK
                                        || Character.getType(c)
                                                == Character.COMBINING_SPACING_MARK);
        if (!plain) {
            throw new IllegalArgumentException("a name has a character that no host name has");
        }
        return isAscii(folded) ? folded : "xn--" + Punycode.encode(folded);
    }

    /** What ends in a number is read as an address by half of the world's software. */
    private static void checkIsNoAddress(String name) {
        String last = name.substring(name.lastIndexOf('.') + 1);
        if (last.chars().allMatch(c -> c >= '0' && c <= '9') || last.startsWith("0x")) {
            throw new IllegalArgumentException(
                    "an address is no name; allow it by a cidr rule, such as 203.0.113.7/32");
        }
    }

    private static boolean isAscii(String text) {
        return text.chars().allMatch(c -> c < 0x80);
    }

    private static boolean isLetterOrDigit(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }
}
