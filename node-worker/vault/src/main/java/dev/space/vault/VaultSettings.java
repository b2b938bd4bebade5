package dev.space.vault;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where the vault is and who calls it.
 *
 * @param address its URL; without TLS on this machine only
 * @param mount of the KV engine, version 2
 * @param caFile certificates (PEM) that the vault's is checked against; none: the JDK's
 * @param roleIdFile file with the AppRole's id
 * @param secretIdFile file with its secret id; read at each log-in, so it can be changed
 */
public record VaultSettings(
        URI address, String mount, Optional<Path> caFile, Path roleIdFile, Path secretIdFile) {

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,62}");
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

    /** Refuses what would send a secret in the clear, or to an address that has more in it. */
    public VaultSettings {
        address = checkedAddress(address);
        String _ = checkedName("mount", mount);
    }

    /** The same address, with nothing but scheme, host and port; IllegalArgumentException. */
    public static URI checkedAddress(URI address) {
        String scheme = String.valueOf(address.getScheme());
        String host = String.valueOf(address.getHost());
        boolean plain = scheme.equals("http");
        if (!plain && !scheme.equals("https")) {
            throw new IllegalArgumentException("the address must begin with https://");
        }
        if (plain && !LOOPBACK.contains(host)) {
            throw new IllegalArgumentException(
                    "the address may begin with http:// on this machine only: secrets would"
                            + " cross the network in the clear");
        }
        String path = address.getPath();
        boolean more = address.getUserInfo() != null || address.getQuery() != null;
        if (more || address.getHost() == null || !(path.isEmpty() || path.equals("/"))) {
            throw new IllegalArgumentException(
                    "the address must be https://HOST[:PORT] and nothing else");
        }
        return URI.create(scheme + "://" + address.getAuthority());
    }

    /** One segment of a path in the vault; IllegalArgumentException otherwise. */
    public static String checkedName(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the vault's " + what + " has small letters, digits, - and _ only");
        }
        return name;
    }
}
