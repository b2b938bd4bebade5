package dev.space.guest.channel;

import dev.space.guest.protocol.Failure;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Turns what a guest says went wrong into an exception. A guest may use only the codes that concern
 * the inside of a sandbox: it can not make the platform believe that a session is gone, say.
 */
final class GuestFailures {

    private static final int DETAIL_CHARS_MAX = 512;

    private static final Map<String, ErrorCode> ALLOWED =
            Stream.of(
                            ErrorCode.INVALID_ARGUMENT,
                            ErrorCode.PROCESS_NOT_FOUND,
                            ErrorCode.FILE_NOT_FOUND,
                            ErrorCode.FILE_CONFLICT,
                            ErrorCode.FILE_FORBIDDEN,
                            ErrorCode.ALREADY_EXISTS,
                            ErrorCode.RANGE_NOT_SATISFIABLE,
                            ErrorCode.LIMIT_EXCEEDED,
                            ErrorCode.NOT_AVAILABLE,
                            ErrorCode.PRECONDITION_FAILED,
                            ErrorCode.UNAVAILABLE,
                            ErrorCode.GUEST_DISK_FULL)
                    .collect(Collectors.toUnmodifiableMap(Enum::name, Function.identity()));

    private GuestFailures() {}

    static SpaceException of(Failure failure) {
        var code = ALLOWED.getOrDefault(failure.getCode(), ErrorCode.GUEST_UNREACHABLE);
        return new SpaceException(code, printable(failure.getDetail()));
    }

    /** What a guest wrote may end in a log or on a terminal: no control characters, no novels. */
    static String printable(String text) {
        var clean = new StringBuilder();
        text.codePoints()
                .limit(DETAIL_CHARS_MAX)
                .map(c ->
                        Character.isISOControl(c) || Character.getType(c) == Character.FORMAT
                                ? '?'
                                : c)
                .forEach(clean::appendCodePoint);
        return clean.toString();
    }
}
