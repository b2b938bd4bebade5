package dev.space.node.guard;

/**
 * Free bytes at which the guard acts.
 *
 * @param watch below this it looks who writes; nothing new is made either, and what is held goes on
 *     once there is more
 * @param hold below this those who wrote most since are held
 * @param last below this everything is held
 */
public record DiskLines(long watch, long hold, long last) {

    private static final int HOLD_PART = 2;
    private static final int LAST_PART = 4;

    /** By the volume's reserve. */
    public static DiskLines of(long reserveBytes) {
        return new DiskLines(reserveBytes, reserveBytes / HOLD_PART, reserveBytes / LAST_PART);
    }
}
