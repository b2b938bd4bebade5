package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Material;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultFault;
import dev.space.vault.VaultReader;
import dev.space.vault.VaultSettings;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the vault for secrets, beside the loops that move bytes. Keeps none. */
public final class VaultSource implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(VaultSource.class);

    /** Calls at once, of all sandboxes. */
    private static final int CALLS_MAX = 8;

    /** Calls that wait for these; beyond that requests are refused at once. */
    private static final int WAITING_MAX = 512;

    private static final long IDLE_SECONDS = 30;

    private final Optional<VaultReader> reader;
    private final ThreadPoolExecutor calls;

    /**
     * The last thing that was logged, so that a vault that is down is one line and not thousands.
     */
    private final AtomicReference<@Nullable VaultFault> told = new AtomicReference<>();

    private VaultSource(Optional<VaultReader> reader) {
        this.reader = reader;
        calls =
                new ThreadPoolExecutor(
                        CALLS_MAX,
                        CALLS_MAX,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(WAITING_MAX),
                        Thread.ofPlatform().daemon().name("vault-", 0).factory());
        calls.allowCoreThreadTimeOut(true);
    }

    /**
     * Asks as the settings say.
     *
     * @param settings none: what is in a vault cannot be had
     */
    public static VaultSource open(Optional<VaultSettings> settings) {
        return new VaultSource(settings.map(VaultReader::new));
    }

    /** The secret, or a {@link VaultFailure}; never on the caller's thread. */
    CompletableFuture<Secret> ask(CredentialGrant grant, Material.Vault place) {
        CompletableFuture<Secret> answer = new CompletableFuture<>();
        if (reader.isEmpty()) {
            LOG.warn("credential {} is in a vault, and this gateway has none", grant.id());
            answer.completeExceptionally(VaultFailure.of(VaultFault.MISCONFIGURED));
            return answer;
        }
        try {
            calls.execute(() -> fetch(reader.get(), grant, place, answer));
        } catch (RejectedExecutionException full) {
            answer.completeExceptionally(VaultFailure.of(VaultFault.BUSY));
        }
        return answer;
    }

    private void fetch(
            VaultReader from,
            CredentialGrant grant,
            Material.Vault place,
            CompletableFuture<Secret> answer) {
        try {
            Secret secret = from.read(place.path(), place.version(), grant.sealingContext());
            if (told.getAndSet(null) != null) {
                LOG.info("the vault answers again");
            }
            if (!answer.complete(secret)) {
                secret.close();
            }
        } catch (VaultFailure failure) {
            if (told.getAndSet(failure.fault()) != failure.fault()) {
                LOG.warn("credential {}: {}", grant.id(), failure.getMessage());
            }
            answer.completeExceptionally(failure);
        } catch (RuntimeException defect) {
            LOG.warn("credential {}: {}", grant.id(), defect.getClass());
            answer.completeExceptionally(VaultFailure.of(VaultFault.FAILING));
        }
    }

    @Override
    public void close() {
        calls.shutdownNow();
        reader.ifPresent(VaultReader::close);
    }
}
