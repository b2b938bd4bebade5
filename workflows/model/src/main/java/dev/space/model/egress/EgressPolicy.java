package dev.space.model.egress;

import java.util.List;

/**
 * What one session may reach. Absent rules refuse everything; rules only add.
 *
 * @param allow in the order in which they were given, which decides nothing
 * @param dryRun refusals of the rules are recorded only; addresses that no sandbox may reach, and
 *     limits, hold all the same
 */
public record EgressPolicy(List<EgressRule> allow, EgressLimits limits, boolean dryRun) {

    /** Rules of one policy once its presets are expanded. */
    public static final int RULES_MAX = 256;

    /** Ports of one rule. */
    public static final int PORTS_MAX = 64;

    /** HTTP entries of one rule. */
    public static final int HTTP_MAX = 32;

    /** A policy as JSON, in characters. */
    public static final int JSON_CHARS_MAX = 64 << 10;

    /** What a session without a policy has. */
    public static final EgressPolicy DENY_ALL =
            new EgressPolicy(List.of(), EgressLimits.DEFAULT, false);

    public EgressPolicy {
        allow = List.copyOf(allow);
    }

    /**
     * A policy from its JSON.
     *
     * @throws dev.space.model.SpaceException INVALID_ARGUMENT with the field and what it must be
     */
    public static EgressPolicy parse(String json) {
        return PolicyParser.parse(json);
    }

    /** Canonical: policies that say the same in the same order give the same text. */
    public String toJson() {
        return PolicyWriter.write(this);
    }
}
