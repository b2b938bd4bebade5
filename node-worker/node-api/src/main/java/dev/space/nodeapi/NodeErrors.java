package dev.space.nodeapi;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Carries the catalogue's errors through gRPC: the code in a trailer, the detail as description.
 */
public final class NodeErrors {
    /** Trailer with the name of an {@link ErrorCode}. */
    public static final Metadata.Key<String> CODE =
            Metadata.Key.of("space-error-code", Metadata.ASCII_STRING_MARSHALLER);

    /** A description is for people; what is longer is cut. */
    private static final int DETAIL_CHARS_MAX = 1000;

    /**
     * What the control plane's server answers to a call that it never began, when the end of the
     * request overtook the request (quarkusio/quarkus 54084): as if nobody had answered.
     */
    private static final String NOT_BEGUN = "Half-closed without a request";

    private NodeErrors() {}

    /** What a server answers. */
    public static StatusRuntimeException toStatus(SpaceException failure) {
        Metadata trailers = new Metadata();
        trailers.put(CODE, failure.code().name());
        return status(failure.code())
                .withDescription(cut(failure.getMessage()))
                .asRuntimeException(trailers);
    }

    private static Status status(ErrorCode code) {
        return switch (code.httpStatus()) {
            case 400, 413, 416, 422 -> Status.INVALID_ARGUMENT;
            case 401 -> Status.UNAUTHENTICATED;
            case 403 -> Status.PERMISSION_DENIED;
            case 404, 410 -> Status.NOT_FOUND;
            case 409, 412 -> Status.FAILED_PRECONDITION;
            case 429, 507 -> Status.RESOURCE_EXHAUSTED;
            case 501 -> Status.UNIMPLEMENTED;
            case 502, 503, 504 -> Status.UNAVAILABLE;
            default -> Status.INTERNAL;
        };
    }

    /** What a caller makes of an answer; names the node where gRPC itself failed. */
    public static SpaceException toException(StatusRuntimeException failure, String node) {
        return toException(failure.getStatus(), failure.getTrailers(), node, failure);
    }

    /** As above, for the checked form. */
    public static SpaceException toException(StatusException failure, String node) {
        return toException(failure.getStatus(), failure.getTrailers(), node, failure);
    }

    /** As above, for observers. */
    public static SpaceException toException(Throwable failure, String node) {
        return toException(
                Status.fromThrowable(failure),
                Status.trailersFromThrowable(failure),
                node,
                failure);
    }

    private static SpaceException toException(
            Status status, @Nullable Metadata trailers, String node, Throwable cause) {
        String name = trailers == null ? null : trailers.get(CODE);
        String detail = status.getDescription() == null ? "" : cut(status.getDescription());
        if (name != null && known(name)) {
            return new SpaceException(ErrorCode.valueOf(name), detail, cause);
        }
        if (status.getCode() == Status.Code.INTERNAL && NOT_BEGUN.equals(detail)) {
            return new SpaceException(
                    ErrorCode.NODE_UNREACHABLE, "node " + node + " did not take the call", cause);
        }
        return switch (status.getCode()) {
            case UNAVAILABLE ->
                    new SpaceException(
                            ErrorCode.NODE_UNREACHABLE, "node " + node + " does not answer", cause);
            case DEADLINE_EXCEEDED, CANCELLED ->
                    new SpaceException(
                            ErrorCode.NODE_UNREACHABLE,
                            "node " + node + " did not answer in time",
                            cause);
            case RESOURCE_EXHAUSTED ->
                    new SpaceException(
                            ErrorCode.LIMIT_EXCEEDED, "node " + node + ": " + detail, cause);
            default ->
                    new SpaceException(
                            ErrorCode.INTERNAL,
                            "node " + node + " answered " + status.getCode() + " " + detail,
                            cause);
        };
    }

    private static boolean known(String name) {
        return Arrays.stream(ErrorCode.values()).anyMatch(code -> code.name().equals(name));
    }

    private static String cut(@Nullable String text) {
        String all = text == null ? "" : text;
        return all.length() <= DETAIL_CHARS_MAX ? all : all.substring(0, DETAIL_CHARS_MAX);
    }
}
