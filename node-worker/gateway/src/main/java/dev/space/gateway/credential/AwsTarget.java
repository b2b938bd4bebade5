package dev.space.gateway.credential;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A request's target as AWS signs it. What is sent is brought into one form first, so that a server
 * which reads it in another way than we do does not sign something else.
 */
final class AwsTarget {

    /** What a signature in the query consists of: taken away with the sandbox's own. */
    private static final Set<String> SIGNATURE =
            Set.of(
                    "x-amz-algorithm",
                    "x-amz-credential",
                    "x-amz-date",
                    "x-amz-expires",
                    "x-amz-signedheaders",
                    "x-amz-signature",
                    "x-amz-security-token");

    private static final String SLASH = "/";

    private AwsTarget() {}

    /** The same target in one form of percent-encoding, without a signature in its query. */
    static String plain(String target) {
        int query = target.indexOf('?');
        String path = encoded(query < 0 ? target : target.substring(0, query), "/*", false);
        if (query < 0) {
            return path;
        }
        List<String> kept = new ArrayList<>();
        for (String part : target.substring(query + 1).split("&", -1)) {
            int equals = part.indexOf('=');
            String name = encoded(equals < 0 ? part : part.substring(0, equals), "", true);
            if (part.isEmpty() || SIGNATURE.contains(name.toLowerCase(Locale.ROOT))) {
                continue;
            }
            kept.add(
                    equals < 0 ? name : name + "=" + encoded(part.substring(equals + 1), "", true));
        }
        return kept.isEmpty() ? path : path + "?" + String.join("&", kept);
    }

    /**
     * The path of a plain target, for a signature.
     *
     * @param exact S3 takes it as it is; all others take dots and slashes out, and encode again
     */
    static String path(String plain, boolean exact) {
        int query = plain.indexOf('?');
        String path = query < 0 ? plain : plain.substring(0, query);
        return exact ? path : withoutDots(path).replace("%", "%25");
    }

    /** The query of a plain target, for a signature: sorted, and each parameter with a value. */
    static String query(String plain) {
        int query = plain.indexOf('?');
        if (query < 0) {
            return "";
        }
        List<String[]> pairs = new ArrayList<>();
        for (String part : plain.substring(query + 1).split("&", -1)) {
            int equals = part.indexOf('=');
            pairs.add(
                    equals < 0
                            ? new String[] {part, ""}
                            : new String[] {part.substring(0, equals), part.substring(equals + 1)});
        }
        pairs.sort(Comparator.comparing((String[] pair) -> pair[0]).thenComparing(pair -> pair[1]));
        return String.join("&", pairs.stream().map(pair -> pair[0] + "=" + pair[1]).toList());
    }

    private static String withoutDots(String path) {
        Deque<String> kept = new ArrayDeque<>();
        for (String segment : path.split(SLASH, -1)) {
            if (segment.equals("..")) {
                var _ = kept.pollLast();
            } else if (!segment.isEmpty() && !segment.equals(".")) {
                kept.addLast(segment);
            }
        }
        boolean directory = path.endsWith(SLASH) || path.endsWith("/.") || path.endsWith("/..");
        String joined = SLASH + String.join(SLASH, kept);
        return directory && !kept.isEmpty() ? joined + SLASH : joined;
    }

    /** Unreserved characters as they are, all others as capital hexadecimal digits. */
    private static String encoded(String text, String kept, boolean plusIsBlank) {
        byte[] raw = text.getBytes(StandardCharsets.UTF_8);
        StringBuilder out = new StringBuilder(raw.length);
        for (int i = 0; i < raw.length; i++) {
            int value = raw[i] & 255;
            boolean escaped = value == '%' && i + 2 < raw.length && isHex(raw[i + 1], raw[i + 2]);
            if (escaped) {
                value = Integer.parseInt(text(raw, i + 1), 16);
                i += 2;
            } else if (value == '+' && plusIsBlank) {
                value = ' ';
            }
            if (isUnreserved(value) || (!escaped && kept.indexOf(value) >= 0)) {
                out.append((char) value);
            } else {
                out.append(String.format(Locale.ROOT, "%%%02X", value));
            }
        }
        return out.toString();
    }

    private static String text(byte[] raw, int from) {
        return new String(raw, from, 2, StandardCharsets.US_ASCII);
    }

    private static boolean isHex(int first, int second) {
        return Character.digit(first, 16) >= 0 && Character.digit(second, 16) >= 0;
    }

    private static boolean isUnreserved(int c) {
        return (c >= 'A' && c <= 'Z')
                || (c >= 'a' && c <= 'z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '.'
                || c == '_'
                || c == '~';
    }
}
