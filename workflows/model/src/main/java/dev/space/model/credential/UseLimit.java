package dev.space.model.credential;

import java.util.Locale;

/**
 * How often a session may use a credential.
 *
 * @param requests in each {@code per}, and at once after a pause
 */
public record UseLimit(int requests, Per per) {

    /** What requests are counted in. */
    public enum Per {
        SECOND(1),
        MINUTE(60);

        private final int seconds;

        Per(int seconds) {
            this.seconds = seconds;
        }

        public int seconds() {
            return seconds;
        }

        /** As JSON has it. */
        public String wire() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** More would limit nothing. */
    public static final int REQUESTS_MAX = 100_000;

    public UseLimit {
        if (requests < 1 || requests > REQUESTS_MAX) {
            throw new IllegalArgumentException("a limit is of 1 to " + REQUESTS_MAX + " requests");
        }
    }
}
