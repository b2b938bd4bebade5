package dev.space.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what somebody probably meant: the known name with the fewest edits from an unknown one. */
public final class NearestKey {

    /** Longer names are compared by their beginning; a configuration key never is. */
    private static final int CHARS_MAX = 256;

    private NearestKey() {}

    /** The nearest known name; of equally near ones the first by alphabet. */
    public static Optional<String> of(String unknown, Collection<String> known) {
        return known.stream()
                .min(
                        Comparator.<String>comparingInt(k -> distance(unknown, k))
                                .thenComparing(Comparator.naturalOrder()));
    }

    /** One sentence for a start-up error: names the key and its nearest neighbour. */
    public static String complaint(String unknown, Collection<String> known) {
        return "unknown configuration key "
                + unknown
                + of(unknown, known).map(k -> "; did you mean " + k + "?").orElse("");
    }

    /** Levenshtein: insertions, deletions and replacements of one character. */
    static int distance(String left, String right) {
        String a = left.substring(0, Math.min(left.length(), CHARS_MAX));
        String b = right.substring(0, Math.min(right.length(), CHARS_MAX));
        int[] previous = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] current = new int[b.length() + 1];
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                current[j] =
                        Math.min(
                                previous[j - 1] + change,
                                1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[b.length()];
    }
}
