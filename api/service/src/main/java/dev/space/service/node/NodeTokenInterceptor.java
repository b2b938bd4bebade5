package dev.space.service.node;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.quarkus.grpc.GlobalInterceptor;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;

/** Only nodes may report. */
@GlobalInterceptor
@ApplicationScoped
public class NodeTokenInterceptor implements ServerInterceptor {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final NodeTokens tokens;

    @Inject
    public NodeTokenInterceptor(NodeTokens tokens) {
        this.tokens = tokens;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        if (tokens.isValid(headers.get(AUTHORIZATION))) {
            return next.startCall(call, headers);
        }
        call.close(
                Status.UNAUTHENTICATED.withDescription("the node token is missing or wrong"),
                new Metadata());
        return new ServerCall.Listener<>() {};
    }
}
