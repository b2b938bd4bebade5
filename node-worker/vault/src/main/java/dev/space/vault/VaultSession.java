package dev.space.vault;

import dev.space.model.Secret;
import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import io.github.jopenlibs.vault.response.AuthResponse;
import io.github.jopenlibs.vault.response.VaultResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Calls under one AppRole. It logs in when first needed, renews its token before that ends, and
 * logs in anew when the vault does not know it any more; nobody has to restart anything.
 */
final class VaultSession implements AutoCloseable {

    /** One call with everything that it needs, a log-in and a second try included. */
    static final Duration CALL_MAX = Duration.ofSeconds(8);

    private static final Duration CONNECT_MAX = Duration.ofSeconds(2);

    /** One request; a body that trickles is ended by {@link #CALL_MAX}. */
    private static final int REQUEST_SECONDS_MAX = 5;

    private static final Duration FAREWELL_MAX = Duration.ofSeconds(2);

    /** A refused call logs in anew, since the token may be revoked; but not all the time. */
    private static final long LOGIN_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int KV = 2;

    private final URI address;
    private final VaultIds ids;
    private final LongSupplier nanos;
    private final HttpClient http;
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    private final ReentrantLock tokens = new ReentrantLock();
    private @Nullable Token token;

    /** A call of the driver. */
    @FunctionalInterface
    interface Call<T> {
        T with(Vault vault) throws VaultException;
    }

    VaultSession(VaultSettings settings, LongSupplier nanos) {
        this(
                settings.address(),
                settings.caFile().map(Roots::of),
                VaultIds.inFiles(settings.roleIdFile(), settings.secretIdFile()),
                nanos);
    }

    VaultSession(URI address, Optional<SSLContext> trust, VaultIds ids, LongSupplier nanos) {
        this.address = address;
        this.ids = ids;
        this.nanos = nanos;
        HttpClient.Builder client =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .followRedirects(HttpClient.Redirect.NEVER)
                        .connectTimeout(CONNECT_MAX);
        trust.ifPresent(client::sslContext);
        this.http = client.build();
    }

    /** The answer of a call whose status is good; VaultFailure otherwise, in bounded time. */
    <T extends VaultResponse> T call(Call<T> call) {
        return call(KV, call);
    }

    /** The same of another engine than KV. */
    <T extends VaultResponse> T plain(Call<T> call) {
        return call(1, call);
    }

    private <T extends VaultResponse> T call(int engine, Call<T> call) {
        return bounded(CALL_MAX, () -> withToken(engine, call));
    }

    private <T extends VaultResponse> T withToken(int engine, Call<T> call)
            throws InterruptedException {
        Token used = token();
        try {
            return answer(used, engine, call);
        } catch (VaultFailure denied) {
            boolean fresh = nanos.getAsLong() - used.since() < LOGIN_AGAIN_NANOS;
            if (denied.fault() != VaultFault.DENIED || fresh) {
                throw denied;
            }
            forget(used);
            return answer(token(), engine, call);
        }
    }

    private <T extends VaultResponse> T answer(Token used, int engine, Call<T> call) {
        try {
            T answer = call.with(driver(used, engine));
            int status = answer.getRestResponse().getStatus();
            if (status >= 400) {
                throw Faults.ofStatus(status);
            }
            return answer;
        } catch (VaultException failure) {
            throw Faults.of(failure);
        }
    }

    private Token token() throws InterruptedException {
        tokens.lockInterruptibly();
        try {
            long now = nanos.getAsLong();
            Token known = token;
            if (known != null && known.isUsable(now) && known.isDue(now)) {
                known = renewed(known, now);
            }
            if (known == null || !known.isUsable(now)) {
                known = login(now);
            }
            token = known;
            return known;
        } finally {
            tokens.unlock();
        }
    }

    /** Nothing where there has to be a log-in. */
    private @Nullable Token renewed(Token known, long now) {
        try {
            AuthResponse answer = answer(known, KV, vault -> vault.auth().renewSelf());
            return Token.of(known.value(), now, answer.getAuthLeaseDuration());
        } catch (VaultFailure failure) {
            return failure.fault().isPassing() ? known.notBefore(now + LOGIN_AGAIN_NANOS) : null;
        }
    }

    private Token login(long now) {
        try (Secret role = ids.roleId();
                Secret secret = ids.secretId()) {
            AuthResponse answer =
                    driver(null, KV).auth().loginByAppRole(role.text(), secret.text());
            return Token.of(
                    Secret.ofText("vault token", answer.getAuthClientToken()),
                    now,
                    answer.getAuthLeaseDuration());
        } catch (VaultException failure) {
            VaultFailure fault = Faults.of(failure);
            throw fault.fault().isPassing()
                    ? fault
                    : new VaultFailure(VaultFault.LOGIN_REFUSED, ids.remedy());
        }
    }

    private void forget(Token used) throws InterruptedException {
        tokens.lockInterruptibly();
        try {
            Token known = token;
            if (known != null && known.since() == used.since()) {
                token = null;
            }
        } finally {
            tokens.unlock();
        }
    }

    private Vault driver(@Nullable Token used, int engine) {
        try {
            VaultConfig config =
                    new VaultConfig()
                            .environmentLoader(new NoEnvironment())
                            .address(address.toString())
                            .httpClient(http)
                            .readTimeout(REQUEST_SECONDS_MAX)
                            .engineVersion(engine);
            if (used != null) {
                config.token(used.value().text());
            }
            return Vault.create(config.build(), engine);
        } catch (VaultException impossible) {
            throw new VaultFailure(VaultFault.MISCONFIGURED, "");
        }
    }

    private <T> T bounded(Duration most, Callable<T> work) {
        Future<T> running = calls.submit(work);
        try {
            return running.get(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | CancellationException late) {
            throw new VaultFailure(VaultFault.TOO_SLOW, "");
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new VaultFailure(VaultFault.TOO_SLOW, "interrupted");
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof VaultFailure known) {
                throw known;
            }
            // Its message could hold what was sent.
            Throwable cause = failure.getCause();
            throw new VaultFailure(
                    VaultFault.FAILING, cause == null ? "" : cause.getClass().getSimpleName());
        } finally {
            running.cancel(true);
        }
    }

    /** Gives the token back, where that is quick. */
    @Override
    public void close() {
        Token last = token;
        token = null;
        if (last != null) {
            try {
                boolean _ =
                        bounded(
                                FAREWELL_MAX,
                                () -> {
                                    driver(last, KV).auth().revokeSelf();
                                    return true;
                                });
            } catch (VaultFailure unheard) {
                // It ends by itself.
            }
            last.value().close();
        }
        calls.shutdownNow();
        http.shutdownNow();
    }
}
