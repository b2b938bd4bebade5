package dev.space.node.api;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Failures on the wire: the code's name in a trailer, the detail in the description. */
final class GrpcErrors {

    private static final Logger LOG = LoggerFactory.getLogger(GrpcErrors.class);

    static final Metadata.Key<String> CODE =
            Metadata.Key.of("space-error-code", Metadata.ASCII_STRING_MARSHALLER);

    private GrpcErrors() {}

    static StatusRuntimeException of(Throwable failure) {
        if (failure instanceof StatusRuntimeException already) {
            return already;
        }
        ErrorCode code = ErrorCode.INTERNAL;
        String detail = "the node failed; its log has the cause";
        if (failure instanceof SpaceException known) {
            code = known.code();
            detail = String.valueOf(known.getMessage());
        } else if (failure instanceof IllegalArgumentException bad) {
            code = ErrorCode.INVALID_ARGUMENT;
            detail = String.valueOf(bad.getMessage());
        } else {
            LOG.error("a call failed with no code of the catalogue", failure);
        }
        Metadata trailers = new Metadata();
        trailers.put(CODE, code.name());
        return status(code).withDescription(detail).asRuntimeException(trailers);
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
