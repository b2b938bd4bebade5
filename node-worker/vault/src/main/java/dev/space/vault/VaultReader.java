package dev.space.vault;

import dev.space.model.Secret;
import io.github.jopenlibs.vault.response.LogicalResponse;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reads secrets. The role behind it can do nothing else. */
public final class VaultReader implements AutoCloseable {

    private final VaultSettings settings;
    private final VaultSession session;

    public VaultReader(VaultSettings settings) {
        this(settings, System::nanoTime);
    }

    VaultReader(VaultSettings settings, LongSupplier nanos) {
        this.settings = settings;
        this.session = new VaultSession(settings, nanos);
    }

    /**
     * One version of a secret, asked of the vault now.
     *
     * @param path without the mount
     * @param boundTo what it was written for; another one is refused
     */
    public Secret read(String path, long version, String boundTo) {
        int wanted = Math.toIntExact(version);
        LogicalResponse answer =
                session.call(vault ->
                        vault.logical().read(settings.mount() + "/" + path, false, wanted));
        @Nullable String value = answer.getData().get(VaultWriter.VALUE);
        @Nullable String written = answer.getData().get(VaultWriter.BOUND_TO);
        if (value == null || !boundTo.equals(written)) {
            throw new VaultFailure(VaultFault.FOREIGN, "");
        }
        try {
            byte[] plain = Base64.getDecoder().decode(value);
            try {
                return new Secret(path, plain);
            } finally {
                Arrays.fill(plain, (byte) 0);
            }
        } catch (IllegalArgumentException malformed) {
            throw new VaultFailure(VaultFault.FOREIGN, "");
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
