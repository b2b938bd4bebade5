package dev.space.gateway.credential;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The query of a request's target. */
final class Query {

    private Query() {}

    /**
     * The target with this parameter instead of all that are called so.
     *
     * @param value as it stands in a query
     */
    static String with(String target, String name, String value) {
        int query = target.indexOf('?');
        List<String> kept = new ArrayList<>();
        if (query >= 0) {
            for (String part : target.substring(query + 1).split("&", -1)) {
                if (!part.isEmpty() && !isCalled(part, name)) {
                    kept.add(part);
                }
            }
        }
        kept.add(name + "=" + value);
        String path = query < 0 ? target : target.substring(0, query);
        return path + "?" + String.join("&", kept);
    }

    private static boolean isCalled(String part, String name) {
        int equals = part.indexOf('=');
        String key = equals < 0 ? part : part.substring(0, equals);
        try {
            return URLDecoder.decode(key, StandardCharsets.UTF_8).equals(name);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
