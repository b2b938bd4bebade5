package dev.space.gateway.credential;

import dev.space.gateway.tcp.Target;
import dev.space.model.egress.EgressReason;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** What is granted to one session. */
public interface SessionCredentials {

    /** What a request gets. */
    sealed interface Choice {}

    /** No credential is for it. */
    record Nothing() implements Choice {}

    /** Exactly one is. */
    record Chosen(Use use) implements Choice {}

    /**
     * It must not pass.
     *
     * @param credential its id, where it is one
     * @param detail for people, also in the sandbox
     */
    record Forbidden(EgressReason reason, String credential, String detail) implements Choice {}

    /**
     * It is not known yet: to be chosen again, by who is bound then.
     *
     * @param done never fails
     */
    record Later(CompletableFuture<Void> done) implements Choice {}

    /** Whether connections there have to be looked into. */
    boolean isFor(String host, int port);

    /** Names of hosts, and above hosts, that there are credentials for. */
    Set<String> names();

    /** Which credential the request gets; the request is not changed. */
    Choice choose(Target target, HttpRequest request);
}
