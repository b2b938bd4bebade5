package dev.space.gateway.intercept;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Headers that are between neighbours only, and must not be passed on. */
final class Headers {

    private static final List<String> BETWEEN_NEIGHBOURS =
            List.of(
                    "connection",
                    "keep-alive",
                    "proxy-connection",
                    "proxy-authenticate",
                    "proxy-authorization",
                    "upgrade",
                    "http2-settings");

    /** Says how the message itself is carried: a Connection header cannot remove these. */
    private static final Set<String> FRAMING =
            Set.of("content-length", "transfer-encoding", "host", "te", "trailer");

    private Headers() {}

    /** Removes them, with those that the message itself calls so. */
    static void strip(HttpHeaders headers) {
        if (headers.isEmpty()) {
            return;
        }
        List<String> named = new ArrayList<>();
        for (String line : headers.getAll(HttpHeaderNames.CONNECTION)) {
            for (String option : line.split(",", -1)) {
                named.add(option.strip().toLowerCase(Locale.ROOT));
            }
        }
        named.stream().filter(n -> !n.isEmpty() && !FRAMING.contains(n)).forEach(headers::remove);
        BETWEEN_NEIGHBOURS.forEach(headers::remove);
        boolean trailers = headers.containsValue(HttpHeaderNames.TE, "trailers", true);
        headers.remove(HttpHeaderNames.TE);
        if (trailers) {
            headers.set(HttpHeaderNames.TE, HttpHeaderValues.TRAILERS);
        }
    }

    /** Answers that cannot be looked into are not asked for. */
    static void askPlain(HttpHeaders headers) {
        headers.set(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.IDENTITY);
        headers.remove(HttpHeaderNames.SEC_WEBSOCKET_EXTENSIONS);
        if (headers.contains("grpc-accept-encoding")) {
            headers.set("grpc-accept-encoding", "identity");
        }
    }

    /** Whether something is hidden in what was not asked for so. */
    static boolean isEncoded(HttpHeaders headers) {
        return isOther(headers, "content-encoding")
                || isOther(headers, "grpc-encoding")
                || headers.contains(HttpHeaderNames.SEC_WEBSOCKET_EXTENSIONS);
    }

    private static boolean isOther(HttpHeaders headers, String name) {
        return headers.getAll(name).stream()
                .anyMatch(v -> !v.isBlank() && !v.strip().equalsIgnoreCase("identity"));
    }
}
