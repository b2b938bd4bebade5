package dev.space.model.egress;

import java.util.List;

/** One entry of a policy's {@code allow}. Rules only add: what none of them allows is refused. */
public sealed interface EgressRule {

    /** Ports of a host rule that names none: plain HTTP and TLS. */
    List<Integer> HOST_PORTS_DEFAULT = List.of(80, 443);

    /** How many connections' ends the rule stands for once presets are expanded. */
    int size();

    /**
     * A name, or every name below one.
     *
     * @param ports sorted, without doubles, never empty
     * @param mayBePrivate the name may resolve to a private or loopback address
     * @param http requests that are allowed; empty allows all
     */
    record Host(HostPattern host, List<Integer> ports, boolean mayBePrivate, List<HttpMatch> http)
            implements EgressRule {

        public Host {
            ports = List.copyOf(ports);
            http = List.copyOf(http);
        }

        @Override
        public int size() {
            return 1;
        }
    }

    /**
     * Raw addresses, for software that does not use names.
     *
     * @param ports sorted, without doubles, never empty
     */
    record Addresses(Cidr cidr, List<Integer> ports) implements EgressRule {

        public Addresses {
            ports = List.copyOf(ports);
        }

        @Override
        public int size() {
            return 1;
        }
    }

    /** A named list of host rules that this release knows. */
    record Named(EgressPreset preset) implements EgressRule {

        @Override
        public int size() {
            return preset.rules().size();
        }
    }
}
