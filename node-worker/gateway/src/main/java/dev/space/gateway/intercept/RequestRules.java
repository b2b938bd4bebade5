package dev.space.gateway.intercept;

import dev.space.gateway.credential.SessionCredentials;
import dev.space.gateway.credential.Use;
import dev.space.gateway.net.Refusal;
import dev.space.gateway.tcp.Answers;
import dev.space.gateway.tcp.GuestConnection;
import dev.space.gateway.tcp.HttpCheck;
import dev.space.gateway.tcp.Target;
import dev.space.gatewayapi.v1.Kind;
import dev.space.model.egress.EgressDecision;
import dev.space.model.egress.EgressDecision.Verdict;
import dev.space.model.egress.EgressReason;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Judges the requests inside of one connection, each by the policy and the grants of its time. */
final class RequestRules {

    /** What becomes of a request. */
    sealed interface Judgement {}

    /** It goes on, with a credential or without. */
    record Pass(Optional<Use> use) implements Judgement {}

    /** It is answered here. */
    record Stop(int status, EgressReason reason, String text) implements Judgement {}

    /**
     * Its secret is being fetched.
     *
     * @param done when it is to be judged again; never fails
     */
    record Wait(CompletableFuture<Void> done) implements Judgement {}

    /** How often one request waits: each change of what is bound meanwhile takes one. */
    private static final int WAITS_MAX = 3;

    private final GuestConnection connection;
    private final Supplier<SessionCredentials> credentials;
    private final @Nullable Refusal unreachable;

    RequestRules(GuestConnection connection, Supplier<SessionCredentials> credentials) {
        this(connection, credentials, null);
    }

    private RequestRules(
            GuestConnection connection,
            Supplier<SessionCredentials> credentials,
            @Nullable Refusal unreachable) {
        this.connection = connection;
        this.credentials = credentials;
        this.unreachable = unreachable;
    }

    /** There is nobody to pass requests to. */
    RequestRules unreachable(Refusal why) {
        return new RequestRules(connection, credentials, why);
    }

    Judgement judge(HttpRequest request) {
        String method = request.method().name();
        if (!connection.home().takeRequest()) {
            return stop(429, EgressReason.LIMIT_RATE, method);
        }
        return judged(request, method, 0);
    }

    /** The same request once more, by what is bound now; it was counted before. */
    Judgement judgeAgain(HttpRequest request, int waits) {
        return judged(request, request.method().name(), waits);
    }

    private Judgement judged(HttpRequest request, String method, int waits) {
        EgressReason fault = HttpCheck.fault(request, connection.target());
        if (fault == EgressReason.HTTP_MALFORMED) {
            return stop(400, fault, method);
        }
        if (fault != null) {
            return stop(421, fault, method);
        }
        Target target = connection.target();
        EgressDecision decision =
                connection
                        .home()
                        .evaluator()
                        .http(target.host(), target.port(), method, request.uri());
        if (!decision.proceeds()) {
            return stop(403, decision.reason(), method);
        }
        if (decision.verdict() == Verdict.DRY_RUN_DENY && waits == 0) {
            connection.audit(
                    Verdict.DRY_RUN_DENY,
                    decision.reason(),
                    a -> a.setKind(Kind.HTTP).setMethod(method));
        }
        if (unreachable != null) {
            boolean forbidden = unreachable.reason() == EgressReason.ADDRESS_FORBIDDEN;
            return new Stop(
                    forbidden ? 403 : 502,
                    unreachable.reason(),
                    Answers.unreachable(target, unreachable));
        }
        return withCredential(request, method, waits);
    }

    private Judgement withCredential(HttpRequest request, String method, int waits) {
        return switch (credentials.get().choose(connection.target(), request)) {
            case SessionCredentials.Nothing _ -> new Pass(Optional.empty());
            case SessionCredentials.Chosen(Use use) -> {
                connection.audit(
                        Verdict.ALLOW,
                        EgressReason.ALLOWED,
                        a -> a.setKind(Kind.CREDENTIAL).setMethod(method).setCredential(use.id()));
                yield new Pass(Optional.of(use));
            }
            case SessionCredentials.Later(CompletableFuture<Void> done) ->
                    waits < WAITS_MAX
                            ? new Wait(done)
                            : forbidden(EgressReason.CREDENTIAL_STORE_UNAVAILABLE, method, "", "");
            case SessionCredentials.Forbidden(
                            EgressReason reason,
                            String credential,
                            String detail) ->
                    forbidden(reason, method, credential, detail);
        };
    }

    private Stop forbidden(EgressReason reason, String method, String credential, String detail) {
        connection.home().requestRefused(reason);
        connection.audit(
                Verdict.DENY,
                reason,
                a -> a.setKind(Kind.CREDENTIAL).setMethod(method).setCredential(credential));
        int status =
                switch (reason) {
                    case CREDENTIAL_UNAVAILABLE, TOKEN_REFUSED -> 502;
                    case CREDENTIAL_LIMIT -> 429;
                    case CREDENTIAL_STORE_UNAVAILABLE, TOKEN_UNAVAILABLE -> 503;
                    default -> 403;
                };
        return new Stop(
                status, reason, Answers.credential(connection.target(), method, reason, detail));
    }

    /** A refusal of ours while a request or its answer is under way. */
    Stop stop(int status, EgressReason reason, String method) {
        connection.home().requestRefused(reason);
        connection.audit(Verdict.DENY, reason, a -> a.setKind(Kind.HTTP).setMethod(method));
        return new Stop(status, reason, Answers.refusal(connection.target(), method, reason));
    }
}
