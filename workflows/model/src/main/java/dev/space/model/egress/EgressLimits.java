package dev.space.model.egress;

import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a session may use of the network, whatever its rules allow.
 *
 * @param connections open at once
 * @param bytes both ways together, for as long as the session is bound to one gateway process
 * @param requestsPerSecond new connections and HTTP requests that are looked at
 */
public record EgressLimits(int connections, OptionalLong bytes, OptionalInt requestsPerSecond) {

    public static final int CONNECTIONS_DEFAULT = 256;
    public static final int CONNECTIONS_MAX = 4096;
    public static final int REQUESTS_PER_SECOND_MAX = 100_000;

    /** The limits of a policy that names none. */
    public static final EgressLimits DEFAULT =
            new EgressLimits(CONNECTIONS_DEFAULT, OptionalLong.empty(), OptionalInt.empty());
}
