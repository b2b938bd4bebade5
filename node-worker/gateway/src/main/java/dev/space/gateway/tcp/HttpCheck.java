package dev.space.gateway.tcp;

import dev.space.model.egress.EgressReason;
import dev.space.model.egress.HostName;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Judges one request's head: whether every server reads it as we do, and whether it is for the host
 * that was resolved. Stricter than HTTP where software differs.
 */
public final class HttpCheck {

    private static final String HTTP2_SETTINGS = "http2-settings";
    private static final String WEBSOCKET = "websocket";

    private HttpCheck() {}

    /** Null when there is no fault. */
    public static @Nullable EgressReason fault(HttpRequest request, Target target) {
        if (!request.decoderResult().isSuccess()
                || !isVersion(request.protocolVersion())
                || !isToken(request.method().name())
                || isOther(request.method().name())
                || !isTarget(request.method().name(), request.uri())
                || !hasPlainFraming(request)) {
            return EgressReason.HTTP_MALFORMED;
        }
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        return hosts.size() == 1 && isHost(hosts.getFirst(), target)
                ? null
                : EgressReason.HTTP_HOST_MISMATCH;
    }

    private static boolean isVersion(HttpVersion version) {
        return version.equals(HttpVersion.HTTP_1_1) || version.equals(HttpVersion.HTTP_1_0);
    }

    /** Requests that make something else of a connection. */
    private static boolean isOther(String method) {
        return method.equals("CONNECT") || method.equals("PRI");
    }

    private static boolean isToken(String text) {
        return !text.isEmpty()
                && text.chars().allMatch(c -> (c >= 'A' && c <= 'Z') || c == '-' || c == '_');
    }

    /** Origin form, or the star of OPTIONS; visible ASCII. */
    private static boolean isTarget(String method, String uri) {
        boolean form = uri.startsWith("/") || (uri.equals("*") && method.equals("OPTIONS"));
        return form && uri.chars().allMatch(c -> c > 0x20 && c < 0x7f && c != '#');
    }

    /** One length, or chunks; never both, nothing coded otherwise. */
    private static boolean hasPlainFraming(HttpRequest request) {
        HttpHeaders headers = request.headers();
        List<String> codings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
        List<String> lengths = headers.getAll(HttpHeaderNames.CONTENT_LENGTH);
        if (codings.isEmpty()) {
            return lengths.size() <= 1;
        }
        return codings.size() == 1
                && codings.getFirst().equalsIgnoreCase("chunked")
                && lengths.isEmpty()
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    }

    private static boolean isHost(String host, Target target) {
        int colon = host.lastIndexOf(':');
        String name = colon < 0 ? host : host.substring(0, colon);
        String port = colon < 0 ? "" : host.substring(colon + 1);
        boolean portFits = colon < 0 || port.equals(Integer.toString(target.port()));
        try {
            String read = HostName.of(name);
            return portFits && target.name().filter(read::equals).isPresent();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Whether the connection would carry WebSocket frames if the server agrees. */
    public static boolean isWebSocket(HttpRequest request) {
        List<String> upgrades = request.headers().getAll(HttpHeaderNames.UPGRADE);
        return request.method().name().equals("GET")
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1)
                && upgrades.size() == 1
                && upgrades.getFirst().equalsIgnoreCase(WEBSOCKET)
                && !request.headers().contains(HttpHeaderNames.CONTENT_LENGTH)
                && !request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
                && request.headers()
                        .containsValue(HttpHeaderNames.CONNECTION, HttpHeaderNames.UPGRADE, true);
    }

    /** A server that is not asked to change the protocol does not; clients offer h2c unasked. */
    public static void removeUpgrade(HttpRequest request) {
        HttpHeaders headers = request.headers();
        if (!headers.contains(HttpHeaderNames.UPGRADE) && !headers.contains(HTTP2_SETTINGS)) {
            return;
        }
        List<String> kept = new ArrayList<>();
        for (String line : headers.getAll(HttpHeaderNames.CONNECTION)) {
            for (String option : line.split(",", -1)) {
                String name = option.strip().toLowerCase(Locale.ROOT);
                if (!name.isEmpty() && !name.equals("upgrade") && !name.equals(HTTP2_SETTINGS)) {
                    kept.add(option.strip());
                }
            }
        }
        headers.remove(HttpHeaderNames.UPGRADE);
        headers.remove(HTTP2_SETTINGS);
        headers.remove(HttpHeaderNames.CONNECTION);
        if (!kept.isEmpty()) {
            headers.set(HttpHeaderNames.CONNECTION, String.join(", ", kept));
        }
    }
}
