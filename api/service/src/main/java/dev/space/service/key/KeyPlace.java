package dev.space.service.key;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.space.model.Secret;
import dev.space.vault.VaultSettings;
import dev.space.vault.VaultTransit;
import java.net.URI;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where an organisation's key is; no secret.
 *
 * @param kind {@code transit}, the engine of OpenBao and Vault, or {@code aws-kms}
 * @param address of the server; null for AWS's own of the region
 * @param mount of the transit engine
 * @param region of the KMS
 * @param key its name there; for a KMS its id, ARN or alias
 * @param ca certificates (PEM) that a vault's is checked against; null: the JDK's
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KeyPlace(
        String kind,
        @Nullable String address,
        @Nullable String mount,
        @Nullable String region,
        String key,
        @Nullable String ca) {

    public static final String TRANSIT = "transit";
    public static final String AWS_KMS = "aws-kms";

    private static final Pattern REGION = Pattern.compile("[a-z0-9-]{2,32}");
    private static final Pattern KMS_KEY = Pattern.compile("[A-Za-z0-9:/_-]{1,256}");

    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).build();

    /** As it is written down: the same place has the same text. */
    String text() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** What was written down. */
    public static KeyPlace of(String text) {
        try {
            return JSON.readValue(text, KeyPlace.class);
        } catch (JsonProcessingException damaged) {
            throw new IllegalStateException("invariant: a key's place cannot be read", damaged);
        }
    }

    /**
     * The service behind it.
     *
     * @throws IllegalArgumentException with a sentence for whoever wrote it
     */
    KeyService open(Secret id, Secret secret) {
        return switch (kind) {
            case TRANSIT -> transit(id, secret);
            case AWS_KMS -> kms(id, secret);
            default -> throw new IllegalArgumentException("kind is " + TRANSIT + " or " + AWS_KMS);
        };
    }

    private KeyService transit(Secret id, Secret secret) {
        if (region != null) {
            throw new IllegalArgumentException("region belongs to kind " + AWS_KMS);
        }
        URI uri = URI.create(needed("address", address));
        String engine = mount == null ? TRANSIT : mount;
        return new TransitService(
                new VaultTransit(uri, engine, key, Optional.ofNullable(ca), id, secret));
    }

    private KeyService kms(Secret id, Secret secret) {
        if (mount != null || ca != null) {
            throw new IllegalArgumentException("mount and ca belong to kind " + TRANSIT);
        }
        if (!REGION.matcher(needed("region", region)).matches()) {
            throw new IllegalArgumentException("region is one such as eu-central-1");
        }
        if (!KMS_KEY.matcher(key).matches()) {
            throw new IllegalArgumentException("key is an id, an ARN or an alias of a KMS");
        }
        Optional<URI> endpoint = Optional.ofNullable(address).map(KeyPlace::endpoint);
        return new KmsService(endpoint, String.valueOf(region), key, id, secret);
    }

    /** The same rules as for a vault. */
    private static URI endpoint(String address) {
        return VaultSettings.checkedAddress(URI.create(address));
    }

    private static String needed(String field, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException(field + " is needed");
        }
        return value;
    }
}
