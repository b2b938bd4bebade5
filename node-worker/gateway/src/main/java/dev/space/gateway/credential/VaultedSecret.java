package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.Material;
import dev.space.vault.VaultFailure;
import dev.space.vault.VaultFault;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The secret of one grant, which is in a vault: asked for when it is used, kept for a short time,
 * and forgotten with the binding. Answers come on other threads than the slot's.
 */
final class VaultedSecret implements AutoCloseable {

    /**
     * How long a secret is used without asking again, from when it was asked for; also how long the
     * vault's refusal, or its end, may go unnoticed. See docs/credentials.md.
     */
    static final Duration KEPT = Duration.ofSeconds(30);

    /** A vault that failed is asked at most this often for each grant. */
    static final Duration FAILURE_KEPT = Duration.ofSeconds(1);

    /** Where secrets are asked for; answers with one, or fails with a {@link VaultFailure}. */
    @FunctionalInterface
    interface Source {
        CompletableFuture<Secret> ask(CredentialGrant grant, Material.Vault place);
    }

    /** What is known of it. */
    sealed interface State {}

    record Ready(Opened opened) implements State {}

    record Failed(VaultFault fault) implements State {}

    /** Look again when it is done; it never fails. */
    record Asked(CompletableFuture<Void> done) implements State {}

    private final CredentialGrant grant;
    private final Material.Vault place;
    private final Source source;
    private final LongSupplier nanos;
    private @Nullable Opened opened;
    private @Nullable VaultFault failed;
    private @Nullable CompletableFuture<Void> asked;
    private long until;
    private boolean closed;

    VaultedSecret(CredentialGrant grant, Material.Vault place, Source source, LongSupplier nanos) {
        this.grant = grant;
        this.place = place;
        this.source = source;
        this.nanos = nanos;
    }

    /** What is known now; asks the vault where nothing is, and does not wait. */
    synchronized State look() {
        forgetOld();
        if (closed) {
            return new Failed(VaultFault.ABSENT);
        }
        if (opened != null) {
            return new Ready(opened);
        }
        if (failed != null) {
            return new Failed(failed);
        }
        if (asked == null) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            asked = done;
            long since = nanos.getAsLong();
            var _ =
                    source.ask(grant, place)
                            .whenComplete((secret, failure) -> {
                                answered(since, secret, failure);
                                done.complete(null);
                            });
            return new Asked(done);
        }
        return new Asked(asked);
    }

    private synchronized void answered(
            long since, @Nullable Secret secret, @Nullable Throwable failure) {
        asked = null;
        if (secret == null) {
            failed = failure instanceof VaultFailure known ? known.fault() : VaultFault.FAILING;
            until = nanos.getAsLong() + FAILURE_KEPT.toNanos();
            return;
        }
        if (closed) {
            secret.close();
            return;
        }
        Optional<Opened> usable = Opened.of(secret, grant.use().injection());
        if (usable.isPresent()) {
            opened = usable.get();
            until = since + KEPT.toNanos();
        } else {
            failed = VaultFault.FOREIGN;
            until = nanos.getAsLong() + FAILURE_KEPT.toNanos();
        }
    }

    /** Wipes what was kept long enough, used or not. */
    synchronized void forgetOld() {
        if (nanos.getAsLong() - until >= 0) {
            failed = null;
            if (opened != null) {
                opened.secret().close();
                opened = null;
            }
        }
    }

    /** Whoever waits is told, so that he looks at what is bound now. */
    @Override
    public synchronized void close() {
        closed = true;
        if (opened != null) {
            opened.secret().close();
            opened = null;
        }
        if (asked != null) {
            asked.complete(null);
        }
    }

    @Override
    public String toString() {
        return "VaultedSecret(" + grant.id() + ")";
    }
}
