package dev.space.model;

/**
 * The one catalogue of errors. It drives the HTTP status, whether a caller may try again, the
 * Temporal non-retryable list, metric labels and docs/errors.md. The name is the wire name.
 */
public enum ErrorCode {
    INVALID_ARGUMENT(400, Retry.NO, "The request is malformed or a value is out of range."),
    UNKNOWN_TEMPLATE(400, Retry.NO, "No template of that name is published."),
    UNKNOWN_SIZE(400, Retry.NO, "The size is not one of the closed set."),
    UNAUTHENTICATED(401, Retry.NO, "The API key is missing or wrong."),
    FORBIDDEN(403, Retry.NO, "The API key may not do this."),
    NOT_FOUND(404, Retry.NO, "There is no such thing in this project."),
    PROCESS_NOT_FOUND(404, Retry.NO, "The sandbox has no process of that id."),
    FILE_NOT_FOUND(404, Retry.NO, "There is no file of that name in the sandbox."),
    GONE(410, Retry.NO, "The session was destroyed."),
    NOT_READY(409, Retry.NO, "The session is still being created."),
    NOT_FAILED(409, Retry.NO, "Only a failed session can be recovered."),
    SESSION_PAUSED(409, Retry.NO, "The session is paused; resume it first."),
    SESSION_SUSPENDED(409, Retry.NO, "The session is suspended; restore it first."),
    SESSION_FAILED(409, Retry.NO, "The session failed; recover or destroy it."),
    OPERATION_IN_PROGRESS(409, Retry.LATER, "Another operation is in progress on the session."),
    ALREADY_EXISTS(409, Retry.NO, "Something of that name exists already."),
    FILE_CONFLICT(409, Retry.NO, "The path is of another kind than the request needs."),
    FILE_FORBIDDEN(403, Retry.NO, "The sandbox's user may not do that with the file."),
    PRECONDITION_FAILED(412, Retry.NO, "A condition of the request does not hold."),
    BODY_TOO_LARGE(413, Retry.NO, "The body is larger than the documented limit."),
    RANGE_NOT_SATISFIABLE(416, Retry.NO, "The requested range lies outside the file."),
    IDEMPOTENCY_KEY_REUSED(422, Retry.NO, "The idempotency key was used with another body."),
    LIMIT_EXCEEDED(429, Retry.LATER, "A limit of the project or the session is reached."),
    INTERNAL(500, Retry.NO, "An invariant of the platform was broken; this is a defect."),
    NOT_AVAILABLE(501, Retry.NO, "This release does not have the operation yet."),
    GUEST_UNREACHABLE(502, Retry.LATER, "The daemon in the sandbox does not answer."),
    GUEST_DISK_FULL(507, Retry.NO, "The sandbox's disk is full."),
    NODE_UNREACHABLE(503, Retry.LATER, "The session's node does not answer."),
    NODE_LOST(503, Retry.NO, "The session's node was declared lost."),
    NODE_DISK_FULL(507, Retry.LATER, "The node has too little free disk space left."),
    NO_CAPACITY(503, Retry.LATER, "No node has room for the sandbox now."),
    NODE_AWAY(503, Retry.LATER, "Every node that could take the sandbox is away."),
    UNAVAILABLE(503, Retry.LATER, "A part of the platform is not reachable now."),
    TIMED_OUT(504, Retry.LATER, "The wait ended before the operation did; it goes on."),
    STALE_FENCE(409, Retry.NO, "A newer operation overtook this call."),
    ENGINE_FAILED(500, Retry.LATER, "The virtual machine could not be started or stopped."),
    SNAPSHOT_NOT_FOUND(404, Retry.NO, "There is no such snapshot."),
    DISK_UNREADABLE(409, Retry.NO, "The disk's file system cannot be read."),
    SNAPSHOT_IN_USE(409, Retry.NO, "The session or an operation stands on the snapshot."),
    SNAPSHOT_INCOMPATIBLE(409, Retry.NO, "The snapshot needs an engine bundle that is gone."),
    SNAPSHOT_CORRUPT(409, Retry.NO, "The snapshot is damaged and is not used; take another."),
    OBJECT_STORE_UNAVAILABLE(503, Retry.LATER, "The object store does not answer as it should."),
    OBJECT_STORE_FULL(507, Retry.LATER, "The object store has no room left."),
    CREDENTIAL_STORE_UNAVAILABLE(503, Retry.LATER, "The store of credentials does not answer now."),
    CREDENTIAL_STORE_REFUSED(
            502, Retry.NO, "The store of credentials does not let the platform in."),
    KEY_REVOKED(403, Retry.NO, "The organisation's key is revoked; nothing of it may start."),
    KEY_SERVICE_UNAVAILABLE(503, Retry.LATER, "The organisation's key service does not answer."),
    PROCESS_LOST(410, Retry.NO, "The process belonged to a sandbox that is no more.");

    /** Whether the same request may succeed later without a change by the caller. */
    public enum Retry {
        NO,
        LATER
    }

    private final int httpStatus;
    private final Retry retry;
    private final String summary;

    ErrorCode(int httpStatus, Retry retry, String summary) {
        this.httpStatus = httpStatus;
        this.retry = retry;
        this.summary = summary;
    }

    public int httpStatus() {
        return httpStatus;
    }

    public boolean isRetryable() {
        return retry == Retry.LATER;
    }

    /** One sentence for people; a particular failure adds its own detail. */
    public String summary() {
        return summary;
    }
}
