package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One range of a file (RFC 9110): {@code bytes=A-B}, {@code bytes=A-} or {@code bytes=-N}. Several
 * ranges, and other units, are ignored as the RFC allows: the whole file is answered.
 */
record ByteRange(long first, long last, boolean isSuffix) {
    private static final Pattern FORM = Pattern.compile("bytes=(\\d{0,18})-(\\d{0,18})");

    /**
     * Null when the whole file is wanted.
     *
     * @param condition {@code If-Range}: files have no validator, so it never holds, and the RFC
     *     then wants the whole file instead of a mix of two
     */
    static @Nullable ByteRange parse(@Nullable String header, @Nullable String condition) {
        if (condition != null) {
            return null;
        }
        Matcher matcher = FORM.matcher(header == null ? "" : header.strip());
        if (!matcher.matches()) {
            return null;
        }
        String first = matcher.group(1);
        String last = matcher.group(2);
        if (first.isEmpty()) {
            return last.isEmpty() ? null : new ByteRange(Long.parseLong(last), 0, true);
        }
        long end = last.isEmpty() ? Long.MAX_VALUE : Long.parseLong(last);
        return end < Long.parseLong(first)
                ? null
                : new ByteRange(Long.parseLong(first), end, false);
    }

    /** Where it begins in a file of this size; 416 outside. */
    long begin(long size) {
        long begin = isSuffix ? Math.max(0, size - first) : first;
        if (begin >= size || (isSuffix && first == 0)) {
            throw new SpaceException(
                    ErrorCode.RANGE_NOT_SATISFIABLE, "the file has " + size + " bytes");
        }
        return begin;
    }

    /** One past its last byte. */
    long end(long size) {
        return isSuffix || last >= size ? size : last + 1;
    }
}
