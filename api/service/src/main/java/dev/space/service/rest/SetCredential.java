package dev.space.service.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Injection;
import dev.space.model.credential.PrivateKeyText;
import dev.space.store.CredentialRows.Scope;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A credential as callers write it; checks every field, and prints nothing. */
@Schema(
        name = "SetCredential",
        requiredProperties = {"hosts", "injection"})
public record SetCredential(
        @Schema(description = "project (default) or organisation") @Nullable String scope,
        @Schema(description = "the secret as text; needed at each setting, or valueBase64")
                @Nullable String value,
        @Schema(description = "the secret's bytes as base64") @Nullable String valueBase64,
        @Schema(implementation = GrantedHost[].class, description = "where it may be sent")
                @Nullable JsonNode hosts,
        @Schema(implementation = String[].class, description = "requests' methods; absent: all")
                @Nullable JsonNode methods,
        @Schema(description = "exact, or a beginning with * at its end; absent: all")
                @Nullable String path,
        @Schema(
                        type = SchemaType.OBJECT,
                        description =
                                "kind header {name, prefix}, basic {user}, query {name},"
                                        + " placeholder {text}, sigv4 {accessKeyId, region,"
                                        + " service}, oauth2 {grant, tokenUrl, clientId,"
                                        + " scope?, audience?, clientAuth?} or jwt {algorithm,"
                                        + " issuer, subject?, audience?, scope?, keyId?,"
                                        + " tokenUrl?}")
                @Nullable JsonNode injection,
        @Schema(
                        implementation = Limit.class,
                        description = "how often each session may use it; absent: as it likes")
                @Nullable JsonNode limit,
        @Schema(description = "who looks after it; for people") @Nullable String owner,
        @Schema(description = "time from which on it is not used any more")
                @Nullable String expires,
        @Schema(description = "time from which on it should be set anew; for people")
                @Nullable String rotateAfter) {

    /** One host, for the description. */
    @Schema(name = "GrantedHost")
    public record GrantedHost(String host, @Nullable List<Integer> ports) {}

    /** So many in a second or a minute, for the description. */
    @Schema(name = "CredentialLimit")
    public record Limit(int requests, @Schema(description = "second or minute") String per) {}

    /**
     * Shorter ones cannot be taken out of answers without harm to these, and are guessed easily.
     */
    static final int SECRET_BYTES_MIN = 8;

    private static final int OWNER_CHARS_MAX = 200;
    private static final int PLAIN_HTTP = 80;

    /** What the database and every reader of RFC 3339 can take. */
    private static final Instant TIME_MAX = Instant.parse("9999-12-31T23:59:59Z");

    CredentialUse checkedUse() {
        ObjectNode use = JsonNodeFactory.instance.objectNode();
        put(use, "hosts", hosts);
        put(use, "methods", methods);
        if (path != null) {
            use.put("path", path);
        }
        put(use, "injection", injection);
        put(use, "limit", limit);
        CredentialUse checked = CredentialUse.parse(use.toString());
        if (checked.hosts().stream().anyMatch(host -> host.ports().contains(PLAIN_HTTP))) {
            throw CreateSession.invalid(
                    "hosts: nothing is ever put into plain HTTP, so port 80 is of no use");
        }
        return checked;
    }

    private static void put(ObjectNode use, String field, @Nullable JsonNode value) {
        if (value != null) {
            use.set(field, value);
        }
    }

    static @Nullable Scope checkedScope(@Nullable String scope) {
        return switch (scope) {
            case null -> null;
            case "project" -> Scope.PROJECT;
            case "organisation" -> Scope.ORGANISATION;
            default -> throw CreateSession.invalid("scope is project or organisation");
        };
    }

    String checkedOwner() {
        String given = owner == null ? "" : owner;
        if (given.length() > OWNER_CHARS_MAX || given.chars().anyMatch(Character::isISOControl)) {
            throw CreateSession.invalid("owner has at most " + OWNER_CHARS_MAX + " characters");
        }
        return given;
    }

    @Nullable Instant checkedExpires(Clock clock) {
        Instant at = time("expires", expires);
        if (at != null && !at.isAfter(clock.instant())) {
            throw CreateSession.invalid("expires is over already");
        }
        return at;
    }

    @Nullable Instant checkedRotateAfter() {
        return time("rotateAfter", rotateAfter);
    }

    /** A time of this API; whole seconds, which is what gateways reckon with. */
    static @Nullable Instant time(String field, @Nullable String text) {
        if (text == null) {
            return null;
        }
        Instant time;
        try {
            time = Instant.ofEpochSecond(Instant.parse(text).getEpochSecond());
        } catch (DateTimeParseException malformed) {
            throw CreateSession.invalid(field + " is a time such as 2030-01-31T12:00:00Z");
        }
        if (time.isBefore(Instant.EPOCH) || time.isAfter(TIME_MAX)) {
            throw CreateSession.invalid(field + " is a time of the years 1970 to 9999");
        }
        return time;
    }

    /** Its complaints never quote it. */
    Secret checkedSecret(String name, CredentialUse use) {
        if ((value == null) == (valueBase64 == null)) {
            throw CreateSession.invalid(
                    "give exactly one of value and valueBase64, also to change something else:"
                            + " nobody can read the old one back");
        }
        byte[] bytes =
                value == null ? decoded(valueBase64) : value.getBytes(StandardCharsets.UTF_8);
        try {
            check(bytes, use.injection());
            checkKind(bytes, use.injection());
            checkNowhereElse(bytes, use);
            return new Secret(name, bytes);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    /** All but the value is stored and shown as it is. */
    private void checkNowhereElse(byte[] bytes, CredentialUse use) {
        byte[] shown = (use.toJson() + owner).getBytes(StandardCharsets.UTF_8);
        for (int from = 0; from + bytes.length <= shown.length; from++) {
            if (Arrays.equals(shown, from, from + bytes.length, bytes, 0, bytes.length)) {
                throw CreateSession.invalid(
                        "the value is also in another field, where everybody can read it");
            }
        }
    }

    private static byte[] decoded(@Nullable String base64) {
        try {
            return Base64.getDecoder().decode(String.valueOf(base64));
        } catch (IllegalArgumentException malformed) {
            throw CreateSession.invalid("valueBase64 is no base64");
        }
    }

    private static void check(byte[] bytes, Injection injection) {
        if (bytes.length < SECRET_BYTES_MIN || bytes.length > CredentialGrants.SECRET_BYTES_MAX) {
            throw CreateSession.invalid(
                    "the value has "
                            + SECRET_BYTES_MIN
                            + " to "
                            + CredentialGrants.SECRET_BYTES_MAX
                            + " bytes");
        }
        try {
            var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
        } catch (CharacterCodingException binary) {
            throw CreateSession.invalid("the value is no UTF-8");
        }
        if (bytes[0] == ' ' || bytes[bytes.length - 1] == ' ') {
            throw CreateSession.invalid("the value begins or ends with a blank, which is cut off");
        }
        for (byte b : bytes) {
            boolean end = injection.hasLines() && (b == '\n' || b == '\r');
            if (((b >= 0 && b < 0x20) || b == 0x7f) && !end) {
                throw CreateSession.invalid(
                        "the value has a control character, such as a line's end, which no request"
                                + " can carry");
            }
            if (b < 0 && injection instanceof Injection.Header) {
                throw CreateSession.invalid("the value of a header is ASCII");
            }
        }
    }

    /** What a gateway could never use. */
    private static void checkKind(byte[] bytes, Injection injection) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        try {
            switch (injection) {
                case Injection.Jwt jwt -> {
                    var _ = PrivateKeyText.read(text, jwt.algorithm());
                }
                case Injection.OAuth2 oauth -> oauth.checkValue(text);
                default -> {}
            }
        } catch (IllegalArgumentException unusable) {
            throw CreateSession.invalid(String.valueOf(unusable.getMessage()));
        }
    }

    @Override
    public String toString() {
        return "SetCredential(" + scope + ")";
    }
}
