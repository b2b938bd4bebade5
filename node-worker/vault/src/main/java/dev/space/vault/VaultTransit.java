package dev.space.vault;

import dev.space.model.Secret;
import io.github.jopenlibs.vault.response.LogicalResponse;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A key of a transit engine, which never leaves the vault. The role behind it may encrypt and
 * decrypt with this one key; what it encrypts is bound to a context that decryption must name.
 */
public final class VaultTransit implements AutoCloseable {

    /** What a ciphertext looks like: the version of the key is in it. */
    private static final Pattern CIPHERTEXT = Pattern.compile("vault:v[0-9]{1,9}:[A-Za-z0-9+/=]+");

    private final String mount;
    private final String key;
    private final VaultSession session;

    /**
     * A key and who uses it.
     *
     * @param address of the vault; without TLS on this machine only
     * @param mount of the transit engine
     * @param key its name there
     * @param ca certificates (PEM) that the vault's is checked against; none: the JDK's
     * @param roleId of the AppRole; this object takes a copy
     * @param secretId the same
     * @throws IllegalArgumentException with a sentence for whoever wrote the settings
     */
    public VaultTransit(
            URI address,
            String mount,
            String key,
            Optional<String> ca,
            Secret roleId,
            Secret secretId) {
        this.mount = VaultSettings.checkedName("mount", mount);
        this.key = VaultSettings.checkedName("key", key);
        this.session =
                new VaultSession(
                        VaultSettings.checkedAddress(address),
                        ca.map(Roots::ofText),
                        new Held(copy(roleId), copy(secretId)),
                        System::nanoTime);
    }

    /** Encrypts with the key's newest version; VaultFailure where that cannot be had. */
    public String encrypt(String context, byte[] plain) {
        Map<String, Object> body =
                Map.of("plaintext", base64(plain), "associated_data", of(context));
        String text = String.valueOf(answer("encrypt", body, "ciphertext"));
        if (!CIPHERTEXT.matcher(text).matches()) {
            throw new VaultFailure(
                    VaultFault.MISCONFIGURED, mount + "/" + key + " is no key of a transit engine");
        }
        return text;
    }

    /** What was encrypted in this context; the caller wipes it. */
    public byte[] decrypt(String context, String ciphertext) {
        if (!CIPHERTEXT.matcher(ciphertext).matches()) {
            throw new VaultFailure(VaultFault.FOREIGN, "");
        }
        Map<String, Object> body = Map.of("ciphertext", ciphertext, "associated_data", of(context));
        @Nullable String plain = answer("decrypt", body, "plaintext");
        try {
            return Base64.getDecoder().decode(String.valueOf(plain));
        } catch (IllegalArgumentException malformed) {
            throw new VaultFailure(VaultFault.FOREIGN, "");
        }
    }

    private @Nullable String answer(String action, Map<String, Object> body, String field) {
        String path = mount + "/" + action + "/" + key;
        LogicalResponse answer = session.plain(vault -> vault.logical().write(path, body));
        return answer.getData().get(field);
    }

    private static String of(String context) {
        return base64(context.getBytes(StandardCharsets.UTF_8));
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static Secret copy(Secret secret) {
        byte[] bytes = secret.bytes();
        try {
            return new Secret("vault id", bytes);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    @Override
    public void close() {
        session.close();
    }

    /** Ids in memory. */
    private record Held(Secret role, Secret secret) implements VaultIds {
        @Override
        public Secret roleId() {
            return copy(role);
        }

        @Override
        public Secret secretId() {
            return copy(secret);
        }

        @Override
        public String remedy() {
            return "set the key again, with a new secret id of its role";
        }
    }
}
