package dev.space.gateway.credential;

import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.egress.EgressReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The token that one grant's secret is exchanged for: made when it is used, kept until shortly
 * before its end, and forgotten with the binding. Answers come on other threads than the slot's.
 */
final class MintedToken implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MintedToken.class);

    /** No token is used for longer, whatever its server says. */
    static final Duration KEPT_MAX = Duration.ofHours(1);

    /** Clocks differ, and a request takes a while. */
    static final Duration MARGIN = Duration.ofSeconds(60);

    /** One that lives shorter than the margin is used for so long all the same. */
    static final Duration KEPT_MIN = Duration.ofSeconds(5);

    /** An endpoint that did not answer is asked at most this often for each grant. */
    static final Duration UNAVAILABLE_KEPT = Duration.ofSeconds(1);

    /** One that said no is not asked again sooner: some lock what guesses. */
    static final Duration REFUSED_KEPT = Duration.ofSeconds(10);

    /** A sandbox that provokes refusals gets no more new tokens than one in this time. */
    static final Duration RENEWED_AT_MOST = Duration.ofSeconds(30);

    /** What a server gave. */
    record Token(String text, long seconds) {

        @Override
        public String toString() {
            return "Token(" + seconds + " s)";
        }
    }

    /** Makes tokens; fails with {@link NoToken}. */
    @FunctionalInterface
    interface Source {
        CompletableFuture<Token> ask(Secret secret);
    }

    /** Why there is none. */
    static final class NoToken extends Exception {

        private static final long serialVersionUID = 1;

        private final EgressReason reason;

        /** The message is for the operator and quotes nothing secret. */
        NoToken(EgressReason reason, String message) {
            super(message, null, false, false);
            this.reason = reason;
        }

        EgressReason reason() {
            return reason;
        }
    }

    /** What is known of it. */
    sealed interface State {}

    record Ready(Opened token) implements State {}

    record Failed(EgressReason reason) implements State {}

    /** Look again when it is done; it never fails. */
    record Asked(CompletableFuture<Void> done) implements State {}

    private final CredentialGrant grant;
    private final Source source;
    private final LongSupplier nanos;
    private @Nullable Opened token;
    private @Nullable EgressReason failed;
    private @Nullable CompletableFuture<Void> asked;
    private @Nullable EgressReason told;
    private long until;
    private long renewableFrom;
    private boolean closed;

    MintedToken(CredentialGrant grant, Source source, LongSupplier nanos) {
        this.grant = grant;
        this.source = source;
        this.nanos = nanos;
        renewableFrom = nanos.getAsLong();
    }

    /** What is known now; has one made where there is none, and does not wait. */
    synchronized State look(Secret secret) {
        forgetOld();
        if (closed) {
            return new Failed(EgressReason.CREDENTIAL_UNAVAILABLE);
        }
        if (token != null) {
            return new Ready(token);
        }
        if (failed != null) {
            return new Failed(failed);
        }
        if (asked == null) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            asked = done;
            long since = nanos.getAsLong();
            var _ =
                    source.ask(secret)
                            .whenComplete((made, failure) -> {
                                answered(since, made, failure);
                                done.complete(null);
                            });
            return new Asked(done);
        }
        return new Asked(asked);
    }

    private synchronized void answered(
            long since, @Nullable Token made, @Nullable Throwable failure) {
        asked = null;
        if (closed) {
            return;
        }
        if (made == null) {
            fail(failure);
            return;
        }
        byte[] text = made.text().getBytes(StandardCharsets.US_ASCII);
        token = new Opened(new Secret(grant.id(), text), Texts.of(text));
        Arrays.fill(text, (byte) 0);
        until = since + kept(made.seconds()).toNanos();
        if (told != null) {
            LOG.info("credential {}: its token endpoint gives tokens again", grant.id());
            told = null;
        }
    }

    static Duration kept(long seconds) {
        Duration kept = Duration.ofSeconds(seconds).minus(MARGIN);
        Duration most = kept.compareTo(KEPT_MAX) > 0 ? KEPT_MAX : kept;
        return most.compareTo(KEPT_MIN) < 0 ? KEPT_MIN : most;
    }

    private void fail(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
        EgressReason reason =
                cause instanceof NoToken known ? known.reason() : EgressReason.TOKEN_UNAVAILABLE;
        failed = reason;
        boolean refused = reason == EgressReason.TOKEN_REFUSED;
        until = nanos.getAsLong() + (refused ? REFUSED_KEPT : UNAVAILABLE_KEPT).toNanos();
        if (told != reason) {
            told = reason;
            // Of what is not ours only the kind: its message could quote what was sent.
            String why =
                    cause instanceof NoToken known
                            ? String.valueOf(known.getMessage())
                            : cause == null ? "" : cause.getClass().getSimpleName();
            LOG.warn("credential {} gets no token: {}", grant.id(), why);
        }
    }

    /** A server does not take this one: the next request gets another, but not too often. */
    synchronized void refused(Opened which) {
        long now = nanos.getAsLong();
        if (which.equals(token) && now - renewableFrom >= 0) {
            renewableFrom = now + RENEWED_AT_MOST.toNanos();
            until = now;
        }
    }

    /** Wipes what was kept long enough, used or not. */
    synchronized void forgetOld() {
        if (nanos.getAsLong() - until >= 0) {
            failed = null;
            wipe();
        }
    }

    private void wipe() {
        if (token != null) {
            token.secret().close();
            token = null;
        }
    }

    /** Whoever waits is told, so that he looks at what is bound now. */
    @Override
    public synchronized void close() {
        closed = true;
        wipe();
        if (asked != null) {
            asked.complete(null);
        }
    }

    @Override
    public String toString() {
        return "MintedToken(" + grant.id() + ")";
    }
}
