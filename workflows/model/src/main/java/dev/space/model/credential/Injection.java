package dev.space.model.credential;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** How a secret gets into a request. Constructors throw IllegalArgumentException for people. */
public sealed interface Injection {

    /** All values of {@code kind}. */
    List<String> KINDS = List.of("header", "basic", "query", "placeholder", "sigv4");

    /** What {@code kind} is in JSON. */
    String kind();

    /**
     * A header's whole value, instead of what the sandbox sent under that name.
     *
     * @param name lower case
     * @param prefix what stands before the secret, such as {@code "Bearer "}
     */
    record Header(String name, String prefix) implements Injection {

        private static final Pattern NAME = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]{1,64}");
        private static final Pattern PREFIX = Pattern.compile("[\\x20-\\x7e]{0,64}");

        /** Headers that say how a message is carried: a secret there would change its meaning. */
        private static final Set<String> RESERVED =
                Set.of(
                        "host",
                        "connection",
                        "proxy-connection",
                        "keep-alive",
                        "te",
                        "trailer",
                        "transfer-encoding",
                        "upgrade",
                        "content-length",
                        "content-encoding",
                        "accept-encoding",
                        "expect");

        public Header {
            name = name.toLowerCase(Locale.ROOT);
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "a header's name has 1 to 64 letters, digits, -");
            }
            if (RESERVED.contains(name)) {
                throw new IllegalArgumentException("the header says how a message is carried");
            }
            if (!PREFIX.matcher(prefix).matches()) {
                throw new IllegalArgumentException("a prefix has at most 64 ASCII characters");
            }
        }

        @Override
        public String kind() {
            return "header";
        }
    }

    /** HTTP basic authentication with the secret as password; Git over HTTPS wants this. */
    record Basic(String user) implements Injection {

        private static final Pattern USER = Pattern.compile("[\\x20-\\x7e&&[^:]]{0,128}");

        public Basic {
            if (!USER.matcher(user).matches()) {
                throw new IllegalArgumentException(
                        "a user has at most 128 ASCII characters and no colon");
            }
        }

        @Override
        public String kind() {
            return "basic";
        }
    }

    /** A parameter of the query, instead of those that the sandbox sent under that name. */
    record Query(String name) implements Injection {

        private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._~-]{1,64}");

        public Query {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "a parameter's name has 1 to 64 letters, digits, dots, dashes, _ and ~");
            }
        }

        @Override
        public String kind() {
            return "query";
        }
    }

    /** A text that the sandbox writes where the secret belongs: headers' values, query, body. */
    record Placeholder(String text) implements Injection {

        /** Long enough to occur by intention only, and the same in JSON, forms and URLs. */
        private static final Pattern TEXT = Pattern.compile("[A-Za-z0-9_-]{12,128}");

        public Placeholder {
            if (!TEXT.matcher(text).matches()) {
                throw new IllegalArgumentException(
                        "a placeholder has 12 to 128 letters, digits, dashes and underscores");
            }
        }

        @Override
        public String kind() {
            return "placeholder";
        }
    }

    /**
     * AWS Signature Version 4 with the secret as secret access key: whatever the sandbox signed
     * with is taken away, and the request is signed anew.
     *
     * @param accessKeyId which key the server shall look up; no secret
     */
    record Sigv4(String accessKeyId, String region, String service) implements Injection {

        private static final Pattern KEY = Pattern.compile("[A-Za-z0-9._-]{3,128}");
        private static final Pattern SCOPE = Pattern.compile("[a-z0-9-]{1,64}");

        public Sigv4 {
            if (!KEY.matcher(accessKeyId).matches()) {
                throw new IllegalArgumentException(
                        "an access key's id has 3 to 128 letters, digits, dots, dashes and _");
            }
            if (!SCOPE.matcher(region).matches() || !SCOPE.matcher(service).matches()) {
                throw new IllegalArgumentException(
                        "a region, such as eu-central-1, and a service, such as s3, have 1 to 64"
                                + " small letters, digits and dashes");
            }
        }

        @Override
        public String kind() {
            return "sigv4";
        }
    }
}
