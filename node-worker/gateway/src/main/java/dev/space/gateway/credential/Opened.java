package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.Injection;
import java.util.Arrays;
import java.util.Optional;

/** A secret that can be used, with what it looks like in answers. */
record Opened(Secret secret, Texts texts) {

    /** Empty, and the secret wiped, where no request could carry it in this way. */
    static Optional<Opened> of(Secret secret, Injection injection) {
        byte[] plain = secret.bytes();
        try {
            if (fits(injection, plain)) {
                return Optional.of(new Opened(secret, Texts.of(plain)));
            }
            secret.close();
            return Optional.empty();
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }

    /** What would break a header's line cannot be in one. */
    private static boolean fits(Injection injection, byte[] plain) {
        if (plain.length == 0 || plain.length > CredentialGrants.SECRET_BYTES_MAX) {
            return false;
        }
        if (injection instanceof Injection.Query || injection instanceof Injection.Basic) {
            return true;
        }
        for (byte b : plain) {
            boolean end = injection.hasLines() && (b == '\n' || b == '\r');
            if (((b >= 0 && b < 0x20) || b == 0x7f) && !end) {
                return false;
            }
        }
        return true;
    }
}
