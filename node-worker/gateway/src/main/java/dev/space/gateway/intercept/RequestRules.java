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
        if (decision.verdict() == Verdict.DRY_RUN_DENY) {
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
        return withCredential(request, method);
    }

    private Judgement withCredential(HttpRequest request, String method) {
        return switch (credentials.get().choose(connection.target(), request)) {
            case SessionCredentials.Nothing _ -> new Pass(Optional.empty());
            case SessionCredentials.Chosen(Use use) -> {
                connection.audit(
                        Verdict.ALLOW,
                        EgressReason.ALLOWED,
                        a -> a.setKind(Kind.CREDENTIAL).setMethod(method).setCredential(use.id()));
                yield new Pass(Optional.of(use));
            }
            case SessionCredentials.Forbidden(
                            EgressReason reason,
                            String credential,
                            String detail) -> {
                connection.home().requestRefused(reason);
                connection.audit(
                        Verdict.DENY,
                        reason,
                        a ->
                                a.setKind(Kind.CREDENTIAL)
                                        .setMethod(method)
                                        .setCredential(credential));
                int status = reason == EgressReason.CREDENTIAL_UNAVAILABLE ? 502 : 403;
                String text = Answers.credential(connection.target(), method, reason, detail);
                yield new Stop(status, reason, text);
            }
        };
    }

    /** A refusal of ours while a request or its answer is under way. */
    Stop stop(int status, EgressReason reason, String method) {
        connection.home().requestRefused(reason);
        connection.audit(Verdict.DENY, reason, a -> a.setKind(Kind.HTTP).setMethod(method));
        return new Stop(status, reason, Answers.refusal(connection.target(), method, reason));
    }
}
