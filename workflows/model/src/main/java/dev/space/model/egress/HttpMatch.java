package dev.space.model.egress;

import dev.space.model.json.JsonTree.Node;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Some requests of a host, by method and path.
 *
 * @param methods upper case, sorted; empty allows all
 * @param path exact, or with a star at its end everything that begins so
 */
public record HttpMatch(List<String> methods, String path) {

    /** The path that every request has. */
    public static final String ANY_PATH = "/*";

    /** Every request. */
    public static final HttpMatch ANY = new HttpMatch(List.of(), ANY_PATH);

    private static final int PATH_CHARS_MAX = 1024;
    private static final Pattern METHOD = Pattern.compile("[A-Z]{1,20}");

    public HttpMatch {
        methods = List.copyOf(methods);
    }

    /** The fields {@code methods} and {@code path} of an object; absent means any. */
    public static HttpMatch of(Node match) {
        Set<String> methods = new TreeSet<>();
        for (Node method : match.itemsOrAll("methods", EgressPolicy.HTTP_MAX)) {
            methods.add(method.text(HttpMatch::method));
        }
        String path = match.field("path").map(p -> p.text(HttpMatch::path)).orElse(ANY_PATH);
        return new HttpMatch(List.copyOf(methods), path);
    }

    private static String method(String text) {
        if (!METHOD.matcher(text).matches() || text.equals("CONNECT")) {
            throw new IllegalArgumentException("not a method such as GET, in capitals");
        }
        return text;
    }

    private static String path(String text) {
        String fixed = text.endsWith("*") ? text.substring(0, text.length() - 1) : text;
        boolean plain = RequestPath.of(fixed).filter(fixed::equals).isPresent();
        if (!plain
                || fixed.contains("*")
                || fixed.contains("?")
                || text.length() > PATH_CHARS_MAX) {
            throw new IllegalArgumentException(
                    "a path begins with a slash, has no query, no dots or empty parts between"
                            + " slashes, and a star at its end only");
        }
        return text;
    }

    /**
     * Whether a request is meant.
     *
     * @param plainPath without a query, and checked by {@link RequestPath}
     */
    public boolean matches(String method, String plainPath) {
        boolean methodFits = methods.isEmpty() || methods.contains(method);
        boolean pathFits =
                path.endsWith("*")
                        ? plainPath.startsWith(path.substring(0, path.length() - 1))
                        : plainPath.equals(path);
        return methodFits && pathFits;
    }
}
