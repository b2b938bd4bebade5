package dev.space.cli.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Seconds of a `--timeout`, in milliseconds as the API takes it. */
final class TimeoutMillis implements ITypeConverter<Long> {

    /** A year. */
    private static final long SECONDS_MAX = 31_536_000;

    @Override
    public Long convert(String text) {
        try {
            long seconds = Long.parseLong(text);
            if (seconds >= 1 && seconds <= SECONDS_MAX) {
                return seconds * 1000;
            }
        } catch (NumberFormatException noNumber) {
            throw refusal(text);
        }
        throw refusal(text);
    }

    private static TypeConversionException refusal(String text) {
        return new TypeConversionException(
                "it takes 1 to " + SECONDS_MAX + " seconds, not " + text);
    }
}
