package dev.space.cli.platform;

import dev.space.model.Limits;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Where one of the machine's nodes keeps what is its own: directories, sockets, names of its
 * processes and ports, its tag and its uids. The first node has the plain names, so that a platform
 * with one looks as if there were no others.
 */
public record NodePlace(Platform platform, int number) {

    /** Each node's uids have room for as many slots as a node may have. */
    private static final int UIDS_EACH = 1024;

    public NodePlace {
        if (number < 1 || number > Limits.NODES_ON_MACHINE_MAX) {
            throw new IllegalArgumentException(
                    "node " + number + " of at most " + Limits.NODES_ON_MACHINE_MAX);
        }
    }

    /** All that there can be: what an earlier run left is looked for in each. */
    public static List<NodePlace> all(Platform platform) {
        return first(platform, Limits.NODES_ON_MACHINE_MAX);
    }

    public static List<NodePlace> first(Platform platform, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(n -> new NodePlace(platform, n)).toList();
    }

    private String own(String name) {
        return number == 1 ? name : name + "-" + number;
    }

    /** The node's name at the control plane. */
    public String id(String configured) {
        return own(configured);
    }

    public String manager() {
        return own("node-manager");
    }

    public String worker() {
        return own("node-worker");
    }

    public String gateway() {
        return own("gateway");
    }

    /** Its processes, in the order of their start. */
    public List<String> services() {
        return List.of(manager(), gateway(), worker());
    }

    /** The system user of its gateway. */
    public String gatewayUser() {
        return own("space-gateway");
    }

    /** The system user of its node-worker. */
    public String user() {
        return own("space-node");
    }

    /** Says whose copy of a secret it is. */
    public String role() {
        return own("node");
    }

    public String apiPort() {
        return own("node-api");
    }

    public String httpPort() {
        return own("node-http");
    }

    public String gatewayPort() {
        return own("gateway-http");
    }

    public List<String> ports() {
        return List.of(apiPort(), httpPort(), gatewayPort());
    }

    /** There while an operator wants the node stopped. */
    public Path stopped() {
        return platform.run().resolve("stopped-" + own("node"));
    }

    /** Its volume's mount point. */
    public Path data() {
        return platform.data().resolve(own("node"));
    }

    /** Its volume where the data directory is not on btrfs. */
    public Path image() {
        return platform.data().resolve(own("node") + ".img");
    }

    public Path state() {
        return platform.data().resolve(own("node-state"));
    }

    public Path managerDirectory() {
        return platform.data().resolve(own("manager"));
    }

    public Path sockets() {
        return platform.sockets().resolve(own("manager"));
    }

    public Path managerSocket() {
        return sockets().resolve("manager.sock");
    }

    /** Where the gateway asks node-manager. */
    public Path managerGatewaySocket() {
        return sockets().resolve("gateway.sock");
    }

    public Path gatewaySockets() {
        return platform.sockets().resolve(own("gateway"));
    }

    /** Where node-worker tells the gateway. */
    public Path gatewaySocket() {
        return gatewaySockets().resolve("control.sock");
    }

    /** Tag of its namespaces and cgroups. */
    public String instance() {
        return number == 1 ? platform.instance() : platform.instance() + "n" + number;
    }

    /** First of its slots' uids. */
    public int uidBase(int configured) {
        return configured + (number - 1) * UIDS_EACH;
    }
}
