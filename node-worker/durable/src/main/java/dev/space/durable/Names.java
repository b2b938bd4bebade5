package dev.space.durable;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of objects. All that one upload writes lies under one prefix, so that it is found again by
 * the same upload only and collected by that prefix only.
 */
final class Names {

    static final String ROOT = "lineages/";

    private static final Pattern OBJECT =
            Pattern.compile(
                    "lineages/([a-z0-9_]{1,64})/([a-z0-9_]{1,64})/([0-9]{1,19})/"
                            + "(manifest|[0-9a-f]{32}\\.pack)");

    /** Whose upload wrote an object. */
    record Owner(LineageId lineage, String session, long snapshot) {

        String prefix() {
            return lineagePrefix(lineage) + session + "/" + snapshot + "/";
        }

        String manifest() {
            return prefix() + "manifest";
        }

        String pack(String name) {
            return prefix() + name + ".pack";
        }

        @Override
        public String toString() {
            return lineage + "/" + session + "/" + snapshot;
        }
    }

    private Names() {}

    static String lineagePrefix(LineageId lineage) {
        return ROOT + lineage.value() + "/";
    }

    /** Who wrote the object of this name; empty for names that no upload makes. */
    static Optional<Owner> owner(String key) {
        Matcher parts = OBJECT.matcher(key);
        if (!parts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new Owner(
                            new LineageId(parts.group(1)),
                            parts.group(2),
                            Long.parseLong(parts.group(3))));
        } catch (NumberFormatException tooLarge) {
            return Optional.empty();
        }
    }

    static boolean isManifest(String key) {
        return key.endsWith("/manifest");
    }
}
