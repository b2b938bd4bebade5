package dev.space.gatewayapi;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Carries the catalogue's errors through gRPC: the code in a trailer, the detail as description.
 */
public final class GatewayErrors {

    /** Trailer with the name of an {@link ErrorCode}. */
    public static final Metadata.Key<String> CODE =
            Metadata.Key.of("space-error-code", Metadata.ASCII_STRING_MARSHALLER);

    private static final int DETAIL_CHARS_MAX = 1000;

    private GatewayErrors() {}

    /** What the gateway answers. */
    public static StatusRuntimeException toStatus(SpaceException failure) {
        Metadata trailers = new Metadata();
        trailers.put(CODE, failure.code().name());
        Status status =
                switch (failure.code()) {
                    case INVALID_ARGUMENT -> Status.INVALID_ARGUMENT;
                    case NOT_FOUND -> Status.NOT_FOUND;
                    case STALE_FENCE -> Status.FAILED_PRECONDITION;
                    case UNAVAILABLE -> Status.UNAVAILABLE;
                    default -> Status.INTERNAL;
                };
        return status.withDescription(cut(failure.getMessage())).asRuntimeException(trailers);
    }

    /**
     * What a caller makes of an answer: without a code it is UNAVAILABLE, for it may be sent again.
     */
    public static SpaceException toException(Throwable failure) {
        Status status = Status.fromThrowable(failure);
        Metadata trailers = Status.trailersFromThrowable(failure);
        String name = trailers == null ? null : trailers.get(CODE);
        String detail = cut(status.getDescription());
        if (name != null
                && Arrays.stream(ErrorCode.values()).anyMatch(c -> c.name().equals(name))) {
            return new SpaceException(ErrorCode.valueOf(name), detail, failure);
        }
        return new SpaceException(
                ErrorCode.UNAVAILABLE,
                "the network gateway does not answer: " + status.getCode() + " " + detail,
                failure);
    }

    private static String cut(@Nullable String text) {
        String all = text == null ? "" : text;
        return all.length() <= DETAIL_CHARS_MAX ? all : all.substring(0, DETAIL_CHARS_MAX);
    }
}
