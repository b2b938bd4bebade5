package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.Limits;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.RequestStore.IdempotencyKey;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks what comes in paths, queries and headers. */
final class Requests {
    static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    static final int LIST_MAX = 1000;
    static final int LIST_DEFAULT = 100;

    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");

    private Requests() {}

    /** An id of another form cannot exist, so it is absent and not malformed. */
    static SessionId session(String id) {
        if (!Ids.isValid(SessionId.PREFIX, id)) {
            throw new SpaceException(
                    ErrorCode.NOT_FOUND, "there is no session " + CreateSession.printable(id));
        }
        return new SessionId(id);
    }

    static OperationId operation(String id) {
        if (!Ids.isValid(OperationId.PREFIX, id)) {
            throw new SpaceException(
                    ErrorCode.NOT_FOUND, "there is no operation " + CreateSession.printable(id));
        }
        return new OperationId(id);
    }

    static SnapshotId snapshot(String id) {
        if (!Ids.isValid(SnapshotId.PREFIX, id)) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "there is no snapshot " + CreateSession.printable(id));
        }
        return new SnapshotId(id);
    }

    static Duration wait(@Nullable String seconds) {
        if (seconds == null) {
            return Duration.ofMillis(Limits.OPERATION_WAIT_MILLIS_DEFAULT);
        }
        long max = Limits.OPERATION_WAIT_MILLIS_MAX / 1000;
        long value = number("wait", seconds, 0, max);
        return Duration.ofSeconds(value);
    }

    static int limit(@Nullable String limit) {
        return limit == null ? LIST_DEFAULT : (int) number("limit", limit, 1, LIST_MAX);
    }

    static long number(String name, String text, long min, long max) {
        try {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException noNumber) {
            throw CreateSession.invalid(name + " is a whole number from " + min + " to " + max);
        }
        throw CreateSession.invalid(name + " is a whole number from " + min + " to " + max);
    }

    /** Neither "yes" nor "1": a flag that is taken for another one does something else. */
    static boolean flag(String name, @Nullable String value) {
        return switch (value) {
            case null -> false;
            case "true" -> true;
            case "false" -> false;
            default -> throw CreateSession.invalid(name + " is true or false");
        };
    }

    static @Nullable IdempotencyKey key(@Nullable String header, String project, Blob hash) {
        if (header == null) {
            return null;
        }
        return new IdempotencyKey(project, checkedKey(header), hash);
    }

    static String checkedKey(String header) {
        if (!KEY.matcher(header).matches()) {
            throw CreateSession.invalid(
                    IDEMPOTENCY_KEY + " has 1 to 255 printable characters without spaces");
        }
        return header;
    }
}
