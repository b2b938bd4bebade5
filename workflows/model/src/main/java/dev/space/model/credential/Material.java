package dev.space.model.credential;

import java.util.regex.Pattern;

/** The secret of a grant in the form in which only the gateway can get at it. */
public sealed interface Material {

    /** Encrypted to the gateways' key, as base64. Does not print: nobody needs it in a log. */
    record Sealed(String base64) implements Material {

        /** {@link CredentialGrants#SECRET_BYTES_MAX} with what sealing adds, as base64. */
        public static final int CHARS_MAX = 24 << 10;

        private static final Pattern BASE64 = Pattern.compile("[A-Za-z0-9+/]{4,}={0,2}");

        public Sealed {
            if (base64.length() > CHARS_MAX || !BASE64.matcher(base64).matches()) {
                throw new IllegalArgumentException("not base64 of a sealed secret");
            }
        }

        @Override
        public String toString() {
            return "Sealed(" + base64.length() + " characters)";
        }
    }

    /**
     * A version of an entry in the vault's KV store.
     *
     * @param path without the mount
     */
    record Vault(String path, long version) implements Material {

        private static final Pattern PATH = Pattern.compile("[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+){0,7}");
        private static final int PATH_CHARS_MAX = 256;

        public Vault {
            if (path.length() > PATH_CHARS_MAX || !PATH.matcher(path).matches() || version < 1) {
                throw new IllegalArgumentException("not a path and version of the vault");
            }
        }
    }
}
