package dev.space.gateway.credential;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.space.model.Secret;
import dev.space.model.credential.Injection;
import dev.space.model.credential.PrivateKeyText;
import dev.space.model.credential.TokenUrl;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.util.Base64;

/** A JWT (RFC 7519) of a closed set of claims, signed with the key that a secret is. */
final class SignedJwt {

    /** From now; GitHub takes ten minutes at most, counted from its own clock. */
    static final long SECONDS = 540;

    /** Servers' clocks may be behind. */
    static final long BACKDATED_SECONDS = 60;

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
    private static final JsonFactory JSON = new JsonFactory();

    private SignedJwt() {}

    /**
     * A new one.
     *
     * @param now seconds since 1970
     * @throws IllegalArgumentException when the secret is no such key
     */
    static String of(Injection.Jwt use, Secret secret, long now) {
        PrivateKey key = PrivateKeyText.read(secret.text(), use.algorithm());
        String signed = part(header(use)) + "." + part(claims(use, now));
        try {
            Signature signature =
                    Signature.getInstance(
                            switch (use.algorithm()) {
                                case RS256 -> "SHA256withRSA";
                                case ES256 -> "SHA256withECDSAinP1363Format";
                            });
            signature.initSign(key);
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            return signed + "." + BASE64.encodeToString(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the private key does not sign");
        }
    }

    private static String part(String json) {
        return BASE64.encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }

    private static String header(Injection.Jwt use) {
        return json(out -> {
            out.writeStringField("alg", use.algorithm().name());
            out.writeStringField("typ", "JWT");
            put(out, "kid", use.keyId());
        });
    }

    private static String claims(Injection.Jwt use, long now) {
        return json(out -> {
            out.writeStringField("iss", use.issuer());
            put(out, "sub", use.subject());
            put(
                    out,
                    "aud",
                    use.audience().isEmpty()
                            ? use.tokenUrl().map(TokenUrl::toString).orElse("")
                            : use.audience());
            put(out, "scope", use.scope());
            out.writeNumberField("iat", now - BACKDATED_SECONDS);
            out.writeNumberField("exp", now + SECONDS);
        });
    }

    private static void put(JsonGenerator out, String name, String value) throws IOException {
        if (!value.isEmpty()) {
            out.writeStringField(name, value);
        }
    }

    /** Writes the fields. */
    @FunctionalInterface
    private interface Fields {
        void to(JsonGenerator out) throws IOException;
    }

    private static String json(Fields fields) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = JSON.createGenerator(text)) {
            out.writeStartObject();
            fields.to(out);
            out.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("text cannot fail to be written", e);
        }
        return text.toString();
    }
}
