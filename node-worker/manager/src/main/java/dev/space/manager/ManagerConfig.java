package dev.space.manager;

import dev.space.privileged.PrivilegedLimits;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The configuration, from one properties file that the supervisor writes. Unknown and missing keys
 * stop the start.
 *
 * @param instance tag in all names on the machine, so that two platforms do not meet
 * @param slots number of slots
 * @param slotUidBase uid = gid of slot 0; the others follow
 * @param dataDir the node's data directory, below which volumes lie
 * @param cacheDir has bundles/
 * @param socket where requests come in
 * @param exitsDir exit records of VMMs
 * @param jail the space-jail binary
 * @param accelerator tcg, or kvm: then VMMs get the machine's /dev/kvm
 * @param workerUser name or number of the one user that may ask
 * @param gateway where the network gateway asks, when there is one
 */
public record ManagerConfig(
        String instance,
        int slots,
        int slotUidBase,
        Path dataDir,
        Path cacheDir,
        Path socket,
        Path exitsDir,
        Path jail,
        String accelerator,
        String workerUser,
        Optional<Gateway> gateway) {

    /**
     * The network gateway's own door.
     *
     * @param socket where it asks for sockets
     * @param user name or number of the one user that may
     */
    public record Gateway(Path socket, String user) {}

    private static final String GATEWAY_SOCKET = "space.manager.gateway-socket";
    private static final String GATEWAY_USER = "space.manager.gateway-user";

    private static final Pattern INSTANCE = Pattern.compile("[a-z0-9]{1,16}");
    private static final Set<String> KEYS =
            new TreeSet<>(
                    Set.of(
                            "space.manager.instance",
                            "space.node.slots",
                            "space.node.slot-uid-base",
                            "space.node.data-dir",
                            "space.node.cache-dir",
                            "space.node.manager-socket",
                            "space.manager.exits-dir",
                            "space.manager.jail",
                            "space.node.accelerator",
                            "space.manager.worker-user",
                            GATEWAY_SOCKET,
                            GATEWAY_USER));

    public ManagerConfig {
        if (!INSTANCE.matcher(instance).matches()) {
            throw new IllegalArgumentException(
                    "space.manager.instance must match " + INSTANCE.pattern());
        }
        if (!accelerator.matches("tcg|kvm")) {
            throw new IllegalArgumentException("space.node.accelerator must be tcg or kvm");
        }
        range(slots, 1, PrivilegedLimits.SLOTS_MAX, "space.node.slots");
        range(slotUidBase, 10_000, 2_000_000_000, "space.node.slot-uid-base");
    }

    public static ManagerConfig load(Path file) throws IOException {
        Properties p = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            p.load(reader);
        }
        for (String key : p.stringPropertyNames()) {
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(
                        file + ": unknown key " + key + "; known are " + KEYS);
            }
        }
        return new ManagerConfig(
                text(p, "space.manager.instance"),
                number(p, "space.node.slots"),
                number(p, "space.node.slot-uid-base"),
                path(p, "space.node.data-dir"),
                path(p, "space.node.cache-dir"),
                path(p, "space.node.manager-socket"),
                path(p, "space.manager.exits-dir"),
                path(p, "space.manager.jail"),
                text(p, "space.node.accelerator"),
                text(p, "space.manager.worker-user"),
                gateway(p));
    }

    private static Optional<Gateway> gateway(Properties p) {
        if (!p.containsKey(GATEWAY_SOCKET) && !p.containsKey(GATEWAY_USER)) {
            return Optional.empty();
        }
        return Optional.of(new Gateway(path(p, GATEWAY_SOCKET), text(p, GATEWAY_USER)));
    }

    /** Name of the slot's network namespace. */
    public String namespace(int slot) {
        return "space-" + instance + "-" + slot;
    }

    public int uid(int slot) {
        return slotUidBase + slot;
    }

    private static String text(Properties p, String key) {
        @Nullable String value = p.getProperty(key);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return value.strip();
    }

    private static int number(Properties p, String key) {
        try {
            return Integer.parseInt(text(p, key));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(key + " must be a number", e);
        }
    }

    private static Path path(Properties p, String key) {
        Path path = Path.of(text(p, key));
        if (!path.isAbsolute() || !path.equals(path.normalize())) {
            throw new IllegalArgumentException(key + " must be an absolute path without ..");
        }
        return path;
    }

    private static void range(int value, int min, int max, String key) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(key + " must be " + min + " to " + max);
        }
    }
}
