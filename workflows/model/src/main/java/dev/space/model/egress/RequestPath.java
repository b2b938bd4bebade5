package dev.space.model.egress;

import java.util.Locale;
import java.util.Optional;

/**
 * Reads the path of a request's target in the one way that every server reads it. A path that two
 * servers may read in two ways is not read: who compares prefixes must not be talked round by
 * {@code /v1/..%2fadmin}.
 */
public final class RequestPath {

    private RequestPath() {}

    /** Without query; empty when the path is ambiguous or not in origin form. */
    public static Optional<String> of(String target) {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        if (!path.startsWith("/") || path.startsWith("//")) {
            return Optional.empty();
        }
        StringBuilder plain = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '%') {
                int octet = octet(path, i);
                if (octet < 0x20 || octet == 0x7f || "/\\%.;?#".indexOf(octet) >= 0) {
                    return Optional.empty();
                }
                if (isUnreserved(octet)) {
                    plain.append((char) octet);
                } else {
                    plain.append(path.substring(i, i + 3).toUpperCase(Locale.ROOT));
                }
                i += 2;
            } else if (c <= 0x20 || c >= 0x7f || c == '\\' || c == '#') {
                return Optional.empty();
            } else {
                plain.append(c);
            }
        }
        return Optional.of(plain.toString()).filter(RequestPath::hasPlainSegments);
    }

    /** The octet of {@code %xy}; -1 where it is malformed. */
    private static int octet(String path, int percent) {
        if (percent + 2 >= path.length()) {
            return -1;
        }
        int high = Character.digit(path.charAt(percent + 1), 16);
        int low = Character.digit(path.charAt(percent + 2), 16);
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }

    private static boolean isUnreserved(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '_'
                || c == '~';
    }

    /** No dot segments, no empty ones but the last, also behind a path parameter. */
    private static boolean hasPlainSegments(String path) {
        String[] segments = path.substring(1).split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            String segment = segments[i];
            int parameter = segment.indexOf(';');
            String name = parameter < 0 ? segment : segment.substring(0, parameter);
            boolean last = i == segments.length - 1;
            if (name.equals(".")
                    || name.equals("..")
                    || (name.isEmpty() && !(last && segment.isEmpty()))) {
                return false;
            }
        }
        return true;
    }
}
