package dev.space.model;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the refusal of a damaged snapshot offers another one: a sentence of its detail, so that
 * people read it wherever the detail goes, and programs find the id in it.
 */
public final class Instead {

    private static final String CHECKED = "the newest good snapshot is ";
    private static final String STORED = "the newest other stored snapshot is ";
    private static final Pattern OFFER =
            Pattern.compile("(?:" + CHECKED + "|" + STORED + ")(snp_[a-z2-7]{26})");

    private Instead() {}

    /** One that was looked at and found whole. */
    public static String checked(SnapshotId good) {
        return CHECKED + good + ": roll back to it";
    }

    /** One that is checked only when it is read. */
    public static String stored(SnapshotId other) {
        return STORED + other + ": roll back to it; it is checked before anything runs from it";
    }

    /** The snapshot that a refusal offers; empty for every other failure. */
    public static Optional<SnapshotId> offered(ErrorCode code, String detail) {
        if (code != ErrorCode.SNAPSHOT_CORRUPT) {
            return Optional.empty();
        }
        Matcher found = OFFER.matcher(detail);
        return found.find() ? Optional.of(new SnapshotId(found.group(1))) : Optional.empty();
    }
}
