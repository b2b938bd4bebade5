package dev.space.model;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which snapshots of a session may go. Each tier keeps one snapshot of every span of time until an
 * age; the older, the fewer. A pure rule: the same list at the same time gives the same answer.
 *
 * @param tiers finest first
 */
public record Thinning(List<Tier> tiers) {

    /** Tiers that one rule may have. */
    private static final int TIERS_MAX = 16;

    private static final Pattern SPAN = Pattern.compile("([1-9][0-9]{0,5})([smhd])");

    public Thinning {
        tiers = List.copyOf(tiers);
        if (tiers.isEmpty() || tiers.size() > TIERS_MAX) {
            throw new IllegalArgumentException("a retention has 1 to " + TIERS_MAX + " tiers");
        }
        for (int i = 1; i < tiers.size(); i++) {
            if (tiers.get(i).until().compareTo(tiers.get(i - 1).until()) <= 0) {
                throw new IllegalArgumentException(
                        "each tier of a retention reaches further back than the one before");
            }
        }
    }

    /** One snapshot of each {@code every} is kept until it is {@code until} old. */
    public record Tier(Duration every, Duration until) {}

    /**
     * A snapshot.
     *
     * @param full true when it has memory: worth more than a disk of the same span
     * @param kept named or pinned: never removed by this rule
     */
    public record Entry(String id, long takenAtMillis, boolean full, boolean kept) {}

    /** Reads {@code 1m:1h,10m:1d}: one of each minute for an hour, one of ten minutes for a day. */
    public static Thinning parse(String text) {
        List<Tier> tiers = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.strip().split(":", -1);
            if (pair.length != 2) {
                throw new IllegalArgumentException(
                        "a tier of a retention is every:until, for instance 1m:1h, not " + part);
            }
            tiers.add(new Tier(span(pair[0]), span(pair[1])));
        }
        return new Thinning(tiers);
    }

    private static Duration span(String text) {
        Matcher matcher = SPAN.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "a time is a number with s, m, h or d behind it, not " + text);
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }

    private record Bucket(int tier, long number) {}

    /**
     * The ids that may go.
     *
     * @param entries in their order, the newest last; the newest and the newest with memory stay
     */
    public Set<String> removable(List<Entry> entries, long nowMillis) {
        Map<Bucket, Entry> best = new HashMap<>();
        for (Entry entry : entries) {
            int tier = tier(nowMillis - entry.takenAtMillis());
            if (tier < tiers.size()) {
                long every = tiers.get(tier).every().toMillis();
                Bucket bucket = new Bucket(tier, Math.floorDiv(entry.takenAtMillis(), every));
                best.merge(bucket, entry, Thinning::better);
            }
        }
        Set<String> stay = newest(entries);
        best.values().forEach(entry -> stay.add(entry.id()));
        Set<String> gone = new HashSet<>();
        for (Entry entry : entries) {
            if (!entry.kept() && !stay.contains(entry.id())) {
                gone.add(entry.id());
            }
        }
        return gone;
    }

    /**
     * The oldest that may go until no more than this many are left; fewer where too many are kept.
     *
     * @param entries in their order, the newest last
     */
    public static List<String> beyond(List<Entry> entries, int max) {
        Set<String> stay = newest(entries);
        List<String> gone = new ArrayList<>();
        for (Entry entry : entries) {
            if (entries.size() - gone.size() <= max) {
                break;
            }
            if (!entry.kept() && !stay.contains(entry.id())) {
                gone.add(entry.id());
            }
        }
        return gone;
    }

    private int tier(long ageMillis) {
        int tier = 0;
        while (tier < tiers.size() && ageMillis > tiers.get(tier).until().toMillis()) {
            tier++;
        }
        return tier;
    }

    /**
     * What stays anyway, then memory, then the older: the oldest of a long span is also the oldest
     * of the short one it was in, so that what was kept is not replaced when it moves on.
     */
    private static Entry better(Entry a, Entry b) {
        if (a.kept() != b.kept()) {
            return a.kept() ? a : b;
        }
        if (a.full() != b.full()) {
            return a.full() ? a : b;
        }
        return b.takenAtMillis() < a.takenAtMillis() ? b : a;
    }

    /** What a recovery starts from is never taken away. */
    private static Set<String> newest(List<Entry> entries) {
        Set<String> stay = new HashSet<>();
        if (!entries.isEmpty()) {
            stay.add(entries.getLast().id());
        }
        for (Entry entry : entries.reversed()) {
            if (entry.full()) {
                stay.add(entry.id());
                break;
            }
        }
        return stay;
    }
}
