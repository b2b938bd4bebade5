package dev.space.model.egress;

import java.util.List;

/**
 * Requests that a rule allows over plain HTTP.
 *
 * @param methods upper case, sorted; empty allows all
 * @param path exact, or with a star at its end everything that begins so
 */
public record HttpMatch(List<String> methods, String path) {

    /** The path that every request has. */
    public static final String ANY_PATH = "/*";

    public HttpMatch {
        methods = List.copyOf(methods);
    }

    /**
     * @param plainPath without a query, and checked by {@link RequestPath}
     */
    boolean matches(String method, String plainPath) {
        boolean methodFits = methods.isEmpty() || methods.contains(method);
        boolean pathFits =
                path.endsWith("*")
                        ? plainPath.startsWith(path.substring(0, path.length() - 1))
                        : plainPath.equals(path);
        return methodFits && pathFits;
    }
}
