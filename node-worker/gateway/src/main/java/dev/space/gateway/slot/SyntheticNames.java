package dev.space.gateway.slot;

import dev.space.model.egress.SpecialRanges;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One session's names and the addresses that stand for them. An address follows from its name, so
 * that it is nearly always the same again even where the table was lost; the table decides, because
 * two names may want the same one. Not for several threads.
 */
final class SyntheticNames {

    /** Names of one session: a guest that makes names up below a star fills no memory. */
    static final int NAMES_MAX = 8192;

    private static final int HOST_BITS = 32 - SpecialRanges.SYNTHETIC.bits();
    private static final int HOST_MASK = (1 << HOST_BITS) - 1;

    private final Map<String, Integer> byName = new LinkedHashMap<>();
    private final Map<Integer, String> byAddress = new HashMap<>();

    /** Takes over what a guest may remember; what is known already stays. */
    void restore(Map<String, Integer> table) {
        table.forEach((name, address) -> {
            boolean isNew = !byName.containsKey(name) && !byAddress.containsKey(address);
            if (isNew && SpecialRanges.SYNTHETIC.contains(address) && hasRoom()) {
                put(name, address);
            }
        });
    }

    Optional<String> name(int address) {
        return Optional.ofNullable(byAddress.get(address));
    }

    OptionalInt address(String name) {
        Integer known = byName.get(name);
        return known == null ? OptionalInt.empty() : OptionalInt.of(known);
    }

    /** A name's address, made when it is new; empty when there is no room. */
    OptionalInt give(String name) {
        OptionalInt known = address(name);
        if (known.isPresent() || !hasRoom()) {
            return known;
        }
        int host = firstHost(name);
        while (!isUsable(host) || byAddress.containsKey(address(host))) {
            host = (host + 1) & HOST_MASK;
        }
        put(name, address(host));
        return OptionalInt.of(address(host));
    }

    Map<String, Integer> table() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(byName));
    }

    private boolean hasRoom() {
        return byName.size() < NAMES_MAX;
    }

    private void put(String name, int address) {
        byName.put(name, address);
        byAddress.put(address, name);
    }

    private static int address(int host) {
        return SpecialRanges.SYNTHETIC.network() | host;
    }

    /** Some software takes an address that ends in 0 or 255 for no host's. */
    private static boolean isUsable(int host) {
        int last = host & 255;
        return last != 0 && last != 255;
    }

    private static int firstHost(String name) {
        try {
            byte[] hash =
                    MessageDigest.getInstance("SHA-256")
                            .digest(name.getBytes(StandardCharsets.US_ASCII));
            return ByteBuffer.wrap(hash).getInt() & HOST_MASK;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
