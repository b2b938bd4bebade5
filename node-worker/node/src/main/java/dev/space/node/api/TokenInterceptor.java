package dev.space.node.api;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.function.Supplier;

/** Lets in only who has the node token. */
public final class TokenInterceptor implements ServerInterceptor {

    static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Supplier<String> token;

    /** The token is asked for at each call, so that it can change without a restart. */
    public TokenInterceptor(Supplier<String> token) {
        this.token = token;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        String given = headers.get(AUTHORIZATION);
        if (given == null || !same(given, "Bearer " + token.get())) {
            Metadata trailers = new Metadata();
            trailers.put(GrpcErrors.CODE, "UNAUTHENTICATED");
            call.close(
                    Status.UNAUTHENTICATED.withDescription("the node token is missing or wrong"),
                    trailers);
            return new ServerCall.Listener<>() {};
        }
        return next.startCall(call, headers);
    }

    private static boolean same(String a, String b) {
        return MessageDigest.isEqual(
                a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
    }
}
