package dev.space.contract.session;

/**
 * How often a crashed sandbox is brought back by itself before the session is FAILED.
 *
 * @param max recoveries inside the window; 0 switches automatic recovery off
 */
public record RecoveryPolicy(int max, long windowMillis) {

    /** Three crashes in ten minutes are a loop that only a person can end. */
    public static final RecoveryPolicy DEFAULT = new RecoveryPolicy(3, 600_000);
}
