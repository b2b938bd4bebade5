package dev.space.service.rest;

import dev.space.model.Secret;
import dev.space.service.key.CustomerKeys;
import dev.space.service.key.KeyPlace;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An organisation's own key as callers write it; checks every field, and prints nothing. */
@Schema(
        name = "SetCustomerKey",
        requiredProperties = {"key", "id", "secret"})
public record SetCustomerKey(
        @Schema(description = "transit (default): of an OpenBao or Vault server; or aws-kms")
                @Nullable String kind,
        @Schema(description = "https://HOST[:PORT]; aws-kms: absent for AWS's own of the region")
                @Nullable String address,
        @Schema(description = "of the transit engine; default transit") @Nullable String mount,
        @Schema(description = "of the KMS") @Nullable String region,
        @Schema(description = "the key's name there; of a KMS its id, ARN or alias")
                @Nullable String key,
        @Schema(description = "certificates (PEM) that a vault's is checked against")
                @Nullable String ca,
        @Schema(description = "who uses it: an AppRole's role id, or an access key's id")
                @Nullable String id,
        @Schema(description = "its secret id, or secret access key; nobody reads it back")
                @Nullable String secret) {

    private static final int NAME_CHARS_MAX = 512;
    private static final int CA_CHARS_MAX = 32_768;

    /** No secret is in it. */
    @Override
    public String toString() {
        return "SetCustomerKey(" + kind + " at " + address + ")";
    }

    KeyPlace checkedPlace() {
        return new KeyPlace(
                kind == null ? KeyPlace.TRANSIT : kind,
                bounded("address", address, NAME_CHARS_MAX),
                bounded("mount", mount, NAME_CHARS_MAX),
                bounded("region", region, NAME_CHARS_MAX),
                needed("key", key),
                bounded("ca", ca, CA_CHARS_MAX));
    }

    Secret checkedId() {
        return CustomerKeys.checked("id", id == null ? "" : id);
    }

    Secret checkedSecret() {
        return CustomerKeys.checked("secret", secret == null ? "" : secret);
    }

    private static String needed(String field, @Nullable String value) {
        if (value == null) {
            throw CreateSession.invalid(field + " is needed");
        }
        var _ = bounded(field, value, NAME_CHARS_MAX);
        return value;
    }

    private static @Nullable String bounded(String field, @Nullable String value, int most) {
        if (value != null && (value.isBlank() || value.length() > most)) {
            throw CreateSession.invalid(field + " has 1 to " + most + " characters");
        }
        return value;
    }
}
