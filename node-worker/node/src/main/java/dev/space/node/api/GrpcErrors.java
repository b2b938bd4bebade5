package dev.space.node.api;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/** Failures on the wire: the code's name in a trailer, the detail in the description. */
final class GrpcErrors {

    static final Metadata.Key<String> CODE =
            Metadata.Key.of("space-error-code", Metadata.ASCII_STRING_MARSHALLER);

    private GrpcErrors() {}

    static StatusRuntimeException of(Throwable failure) {
        if (failure instanceof StatusRuntimeException already) {
            return already;
        }
        SpaceException known = Failures.known(failure);
        Metadata trailers = new Metadata();
        trailers.put(CODE, known.code().name());
        return status(known.code())
                .withDescription(String.valueOf(known.getMessage()))
                .asRuntimeException(trailers);
    }

    private static Status status(ErrorCode code) {
        return switch (code.httpStatus()) {
            case 400, 416, 422 -> Status.INVALID_ARGUMENT;
            case 401 -> Status.UNAUTHENTICATED;
            case 403 -> Status.PERMISSION_DENIED;
            case 404, 410 -> Status.NOT_FOUND;
            case 409, 412 -> Status.FAILED_PRECONDITION;
            case 413, 429, 507 -> Status.RESOURCE_EXHAUSTED;
            case 501 -> Status.UNIMPLEMENTED;
            case 502, 503 -> Status.UNAVAILABLE;
            case 504 -> Status.DEADLINE_EXCEEDED;
            default -> Status.INTERNAL;
        };
    }
}
