package dev.space.model.credential;

import dev.space.model.egress.HostName;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a credential is exchanged for a token. A secret is sent there, so it is TLS always.
 *
 * @param host in the form of HostName
 * @param path in origin form, with a query where there is one
 */
public record TokenUrl(String host, int port, String path) {

    private static final int CHARS_MAX = 1024;
    private static final int PORT_DEFAULT = 443;
    private static final Pattern URL =
            Pattern.compile("https://([^/:@?#]+)(?::([1-9][0-9]{0,4}))?(/[\\x21-\\x7e&&[^#]]*)");

    /** IllegalArgumentException with a sentence for people where it is none. */
    public static TokenUrl of(String text) {
        Matcher url = URL.matcher(text);
        if (text.length() > CHARS_MAX || !url.matches()) {
            throw new IllegalArgumentException(
                    "a token's URL is such as https://login.example.com/oauth2/token");
        }
        int port = url.group(2) == null ? PORT_DEFAULT : Integer.parseInt(url.group(2));
        if (port > 65_535) {
            throw new IllegalArgumentException("a port is a number of 1 to 65535");
        }
        return new TokenUrl(HostName.of(url.group(1)), port, url.group(3));
    }

    /** The host as a request names it. */
    public String authority() {
        return port == PORT_DEFAULT ? host : host + ":" + port;
    }

    @Override
    public String toString() {
        return "https://" + authority() + path;
    }
}
