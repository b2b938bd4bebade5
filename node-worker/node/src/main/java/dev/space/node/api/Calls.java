package dev.space.node.api;

import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;

/** Runs the body of a call and answers it. */
final class Calls {

    private Calls() {}

    static <T> void unary(StreamObserver<T> caller, Supplier<T> body) {
        T answer;
        try {
            answer = body.get();
        } catch (RuntimeException e) {
            caller.onError(GrpcErrors.of(e));
            return;
        }
        caller.onNext(answer);
        caller.onCompleted();
    }
}
