package dev.space.service.rest;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import jakarta.ws.rs.core.UriInfo;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Paths in a sandbox are bytes: percent-decoded here without passing through text, so that any file
 * name can be named. A plus sign is a plus sign.
 */
final class GuestPaths {
    private static final String UNRESERVED = "-._~/";

    private GuestPaths() {}

    /** The query parameter {@code path} as bytes. */
    static ByteString of(UriInfo uri) {
        String query = uri.getRequestUri().getRawQuery();
        String raw = query == null ? null : parameter(query, "path");
        if (raw == null || raw.isEmpty()) {
            throw CreateSession.invalid("the query parameter path is missing");
        }
        return checked(decode(raw));
    }

    /** Another query parameter with a path; empty when it is not there. */
    static ByteString optional(UriInfo uri, String name) {
        String query = uri.getRequestUri().getRawQuery();
        String raw = query == null ? null : parameter(query, name);
        return raw == null ? ByteString.EMPTY : checked(decode(raw));
    }

    /** A path from a JSON body. */
    static ByteString of(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            throw CreateSession.invalid("path is missing");
        }
        return checked(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ByteString checked(byte[] path) {
        if (path.length > Limits.PATH_BYTES_MAX) {
            throw CreateSession.invalid("path has at most " + Limits.PATH_BYTES_MAX + " bytes");
        }
        for (byte b : path) {
            if (b == 0) {
                throw CreateSession.invalid("path contains NUL");
            }
        }
        return ByteString.copyFrom(path);
    }

    private static @Nullable String parameter(String query, String name) {
        for (String pair : query.split("&", -1)) {
            if (pair.startsWith(name + "=")) {
                return pair.substring(name.length() + 1);
            }
        }
        return null;
    }

    private static byte[] decode(String raw) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(raw.length());
        int i = 0;
        while (i < raw.length()) {
            char c = raw.charAt(i);
            if (c != '%') {
                out.writeBytes(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
                i++;
                continue;
            }
            int high = i + 2 < raw.length() ? Character.digit(raw.charAt(i + 1), 16) : -1;
            int low = i + 2 < raw.length() ? Character.digit(raw.charAt(i + 2), 16) : -1;
            if (high < 0 || low < 0) {
                throw new SpaceException(
                        ErrorCode.INVALID_ARGUMENT, "path has a broken percent escape");
            }
            out.write(high << 4 | low);
            i += 3;
        }
        return out.toByteArray();
    }

    /** Bytes as an answer shows them; {@link #of(UriInfo)} reads them back unchanged. */
    static String encode(ByteString bytes) {
        StringBuilder out = new StringBuilder();
        for (byte b : bytes.toByteArray()) {
            char c = (char) (b & 0xff);
            boolean plain =
                    c < 0x80 && (Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0);
            if (plain) {
                out.append(c);
            } else {
                out.append('%')
                        .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
                        .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
            }
        }
        return out.toString();
    }
}
