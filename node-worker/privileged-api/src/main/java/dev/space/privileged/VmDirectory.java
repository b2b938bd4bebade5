package dev.space.privileged;

import java.util.regex.Pattern;

/**
 * Where the files of one VM lie: {@code volumes/<volume>/<area>/<name>/live} under the node's data
 * directory. Names have no dots and no slashes, so they cannot lead anywhere else.
 */
public record VmDirectory(String volume, Area area, String name) {

    /** The two places where node-worker keeps files of VMs. */
    public enum Area {
        /** A session's own directory; the name is the session's id. */
        SESSIONS("sessions"),
        /** A start snapshot in the making. */
        STAGING("staging");

        private final String directory;

        Area(String directory) {
            this.directory = directory;
        }

        /** The name of the directory below the volume. */
        public String directory() {
            return directory;
        }
    }

    private static final Pattern VOLUME = Pattern.compile("[a-z0-9][a-z0-9-]{0,39}");
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,79}");

    public VmDirectory {
        Checks.matches(VOLUME, volume, "volume");
        Checks.matches(NAME, name, "name");
    }

    /** The path relative to the node's data directory. */
    public String relativePath() {
        return "volumes/" + volume + "/" + area.directory() + "/" + name + "/live";
    }
}
