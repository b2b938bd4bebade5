package dev.space.model.credential;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** How a secret gets into a request. Constructors throw IllegalArgumentException for people. */
public sealed interface Injection {

    /** All values of {@code kind}. */
    List<String> KINDS =
            List.of("header", "basic", "query", "placeholder", "sigv4", "oauth2", "jwt");

    /** What {@code kind} is in JSON. */
    String kind();

    /** Whether the secret may have several lines; others are part of one line of a request. */
    default boolean hasLines() {
        return false;
    }

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

    /**
     * A token of OAuth 2 as bearer, for which the gateway exchanges the secret.
     *
     * @param scope what the token shall be good for; empty asks for none
     * @param audience that some servers want; empty says none
     * @param clientAuthInBody the client's secret goes into the form instead of a header
     */
    record OAuth2(
            Grant grant,
            TokenUrl tokenUrl,
            String clientId,
            String scope,
            String audience,
            boolean clientAuthInBody)
            implements Injection {

        /** How. */
        public enum Grant {
            CLIENT_CREDENTIALS,
            REFRESH_TOKEN;

            /** As OAuth calls it. */
            public String wire() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /** What a secret consists of. */
        public record Parts(String clientSecret, String refreshToken) {

            @Override
            public String toString() {
                return "Parts";
            }
        }

        private static final Pattern TEXT = Pattern.compile("[\\x20-\\x7e]{0,512}");

        public OAuth2 {
            if (clientId.isEmpty() || !TEXT.matcher(clientId).matches()) {
                throw new IllegalArgumentException("a client's id has 1 to 512 ASCII characters");
            }
            if (!TEXT.matcher(scope).matches() || !TEXT.matcher(audience).matches()) {
                throw new IllegalArgumentException(
                        "a scope and an audience have at most 512 ASCII characters");
            }
        }

        @Override
        public String kind() {
            return "oauth2";
        }

        @Override
        public boolean hasLines() {
            return grant == Grant.REFRESH_TOKEN;
        }

        /** IllegalArgumentException where it is not what {@link #parts} takes apart. */
        public void checkValue(String secret) {
            boolean one = grant == Grant.CLIENT_CREDENTIALS;
            long lines = secret.lines().count();
            if (lines > (one ? 1 : 2) || secret.lines().anyMatch(String::isBlank)) {
                throw new IllegalArgumentException(
                        one
                                ? "the value is the client's secret"
                                : "the value is a refresh token, and on a second line the secret of"
                                        + " a client that has one");
            }
        }

        /**
         * The secret of a client; or a refresh token, and on a second line the secret of a client
         * that has one.
         */
        public Parts parts(String secret) {
            if (grant == Grant.CLIENT_CREDENTIALS) {
                return new Parts(secret, "");
            }
            int end = secret.indexOf('\n');
            return end < 0
                    ? new Parts("", secret.strip())
                    : new Parts(secret.substring(end).strip(), secret.substring(0, end).strip());
        }
    }

    /**
     * A signed JWT as bearer, as GitHub's Apps want it; or exchanged for a token, as Google's
     * service accounts are. The secret is the private key.
     *
     * @param subject and each other text: empty is left out
     * @param audience empty is the token's URL, where there is one
     * @param tokenUrl where it is exchanged; empty sends it as it is
     */
    record Jwt(
            Algorithm algorithm,
            String issuer,
            String subject,
            String audience,
            String scope,
            String keyId,
            Optional<TokenUrl> tokenUrl)
            implements Injection {

        /** Of the signature. */
        public enum Algorithm {
            RS256,
            ES256
        }

        private static final Pattern TEXT = Pattern.compile("[\\x20-\\x7e]{0,512}");

        public Jwt {
            if (issuer.isEmpty()) {
                throw new IllegalArgumentException("a JWT has an issuer");
            }
            for (String text : List.of(issuer, subject, audience, scope, keyId)) {
                if (!TEXT.matcher(text).matches()) {
                    throw new IllegalArgumentException(
                            "issuer, subject, audience, scope and keyId have at most 512 ASCII"
                                    + " characters");
                }
            }
        }

        @Override
        public String kind() {
            return "jwt";
        }

        @Override
        public boolean hasLines() {
            return true;
        }
    }
}
