package dev.space.vault;

import dev.space.model.Secret;
import io.github.jopenlibs.vault.response.LogicalResponse;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.stream.LongStream;

/** Writes secrets and destroys them. The role behind it cannot read one. */
public final class VaultWriter implements AutoCloseable {

    static final String VALUE = "value";
    static final String BOUND_TO = "for";

    /** How far back versions are looked for that may be there still; KV keeps ten by itself. */
    private static final int VERSIONS_BACK = 32;

    private final VaultSettings settings;
    private final VaultSession session;

    public VaultWriter(VaultSettings settings) {
        this.settings = settings;
        this.session = new VaultSession(settings, System::nanoTime);
    }

    /**
     * Writes the next version.
     *
     * @param path without the mount
     * @param boundTo what a reader must name to get it: whose it is, and what it is for
     * @return the version's number
     */
    public long write(String path, String boundTo, Secret secret) {
        byte[] plain = secret.bytes();
        Map<String, Object> entry;
        try {
            entry = Map.of(VALUE, Base64.getEncoder().encodeToString(plain), BOUND_TO, boundTo);
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
        LogicalResponse answer = session.call(vault -> vault.logical().write(place(path), entry));
        try {
            return Long.parseLong(String.valueOf(answer.getData().get("version")));
        } catch (NumberFormatException noVersion) {
            throw new VaultFailure(
                    VaultFault.MISCONFIGURED,
                    "the mount " + settings.mount() + " is no KV engine of version 2");
        }
    }

    /** Destroys all that is older than a version; what is gone already is no fault. */
    public void destroyBelow(String path, long version) {
        int[] older =
                LongStream.range(Math.max(1, version - VERSIONS_BACK), version)
                        .mapToInt(Math::toIntExact)
                        .toArray();
        if (older.length > 0) {
            removed(vault -> vault.logical().destroy(place(path), older));
        }
    }

    /** Destroys every version and all that is known of the entry. */
    public void remove(String path) {
        removed(vault -> vault.logical().delete(place(path)));
    }

    private void removed(VaultSession.Call<LogicalResponse> call) {
        try {
            var _ = session.call(call);
        } catch (VaultFailure failure) {
            if (failure.fault() != VaultFault.ABSENT) {
                throw failure;
            }
        }
    }

    private String place(String path) {
        return settings.mount() + "/" + path;
    }

    @Override
    public void close() {
        session.close();
    }
}
