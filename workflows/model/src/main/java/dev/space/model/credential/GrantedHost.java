package dev.space.model.credential;

import dev.space.model.egress.HostPattern;
import java.util.List;

/**
 * Where a secret may be sent.
 *
 * @param ports sorted; {@link #PORTS_DEFAULT} where nothing else is said
 */
public record GrantedHost(HostPattern host, List<Integer> ports) {

    /** A secret goes to TLS only, unless another port is named on purpose. */
    public static final List<Integer> PORTS_DEFAULT = List.of(443);

    public GrantedHost {
        ports = List.copyOf(ports);
    }

    /** Whether a name in the form of HostName and a port are meant. */
    public boolean matches(String name, int port) {
        return ports.contains(port) && host.matches(name);
    }
}
