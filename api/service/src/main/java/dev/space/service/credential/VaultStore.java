package dev.space.service.credential;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialUse;
import dev.space.model.credential.Material;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultSettings;
import dev.space.vault.VaultWriter;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Secrets in an OpenBao or Vault server. The role that this process has cannot read them, so what
 * holds for the sealed store holds here: what was written is not read back.
 */
final class VaultStore implements CredentialStore, AutoCloseable {

    /** Secrets that are written at once: each holds a connection of the database meanwhile. */
    static final int TURNS_MAX = 4;

    private static final Duration TURN_WAIT_MAX = Duration.ofSeconds(5);
    private static final Logger LOG = Logger.getLogger(VaultStore.class);

    private final VaultWriter writer;
    private final String prefix;
    private final Semaphore turns = new Semaphore(TURNS_MAX);

    VaultStore(VaultSettings settings, String prefix) {
        this.writer = new VaultWriter(settings);
        this.prefix = VaultSettings.checkedName("prefix", prefix);
    }

    @Override
    public Material keep(String scope, String id, long version, CredentialUse use, Secret secret) {
        String path = prefix + "/" + scope + "/" + id;
        String boundTo = CredentialGrant.sealingContext(scope, id, version, use);
        try {
            return new Material.Vault(path, writer.write(path, boundTo, secret));
        } catch (VaultFailure failure) {
            LOG.warnf("credential %s cannot be written: %s", id, failure.getMessage());
            throw told(failure);
        }
    }

    /** For whoever asked, who may know neither files nor addresses. */
    private static SpaceException told(VaultFailure failure) {
        return failure.fault().isPassing()
                ? new SpaceException(
                        ErrorCode.CREDENTIAL_STORE_UNAVAILABLE,
                        failure.fault().summary() + "; nothing was changed, try again later")
                : new SpaceException(
                        ErrorCode.CREDENTIAL_STORE_REFUSED,
                        failure.fault().summary()
                                + "; nothing was changed, the operator's `space doctor` says more");
    }

    @Override
    public <T> T inTurn(Supplier<T> work) {
        try {
            if (!turns.tryAcquire(TURN_WAIT_MAX.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new SpaceException(
                        ErrorCode.CREDENTIAL_STORE_UNAVAILABLE,
                        "the vault is slow, and others wait for it; try again later");
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "interrupted", ended);
        }
        try {
            return work.get();
        } finally {
            turns.release();
        }
    }

    /** Takes one thing out of the vault; VaultFailure where it cannot. */
    void remove(String path, long below) {
        if (below == 0) {
            writer.remove(path);
        } else {
            writer.destroyBelow(path, below);
        }
    }

    @Override
    public void close() {
        writer.close();
    }
}
