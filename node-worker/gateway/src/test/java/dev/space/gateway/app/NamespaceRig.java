package dev.space.gateway.app;

import dev.space.gateway.config.GatewayConfig;
import dev.space.gateway.config.TlsFiles;
import dev.space.gateway.slot.SocketSource;
import dev.space.gatewayapi.GatewayChannel;
import dev.space.gatewayapi.v1.GatewayGrpc;
import dev.space.nativeabi.NamespaceSockets;
import dev.space.privileged.PrivilegedLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Two namespaces, a slot's and a guest's behind it, and a gateway that has the slot's sockets. */
final class NamespaceRig {

    private static final String FILTER =
            """
            table inet space {
              chain lead { type nat hook prerouting priority dstnat; policy accept;
                iifname "tap0" ip protocol tcp redirect to :15001
                iifname "tap0" udp dport 53 redirect to :15053
              }
              chain fw { type filter hook forward priority filter; policy drop; }
            }
            """;

    private final Path directory;
    private final TlsFiles tls;
    private final String slot;
    private final String guest;
    private final TestDns outsideDns = new TestDns();
    private GatewayProcess process;
    private GatewayChannel channel;

    NamespaceRig(Path directory, String tag) throws Exception {
        this(directory, tag, TlsFiles.NONE);
    }

    NamespaceRig(Path directory, String tag, TlsFiles tls) throws Exception {
        this.tls = tls;
        this.directory = directory;
        slot = tag + "s";
        guest = tag + "g";
        ip("netns", "add", slot);
        ip("netns", "add", guest);
        ip("link", "add", tag + "a", "type", "veth", "peer", "name", tag + "b");
        ip("link", "set", tag + "a", "netns", slot, "name", "tap0");
        ip("link", "set", tag + "b", "netns", guest, "name", "eth0");
        ip("-n", slot, "addr", "add", "10.200.0.1/30", "dev", "tap0");
        ip("-n", guest, "addr", "add", "10.200.0.2/30", "dev", "eth0");
        ip("-n", slot, "link", "set", "lo", "up");
        ip("-n", slot, "link", "set", "tap0", "up");
        ip("-n", guest, "link", "set", "lo", "up");
        ip("-n", guest, "link", "set", "eth0", "up");
        ip("-n", guest, "route", "add", "default", "via", "10.200.0.1");
        check(NamespaceIT.run(List.of("ip", "netns", "exec", slot, "nft", "-f", "-"), FILTER));
        Path resolv = Path.of("/etc/netns", guest, "resolv.conf");
        Files.createDirectories(resolv.getParent());
        Files.writeString(resolv, "nameserver 10.200.0.1\noptions timeout:2 attempts:1\n");
        process = newProcess();
        channel = GatewayChannel.open(socket());
    }

    TestDns outsideDns() {
        return outsideDns;
    }

    private Path socket() {
        return directory.resolve("control.sock");
    }

    private GatewayProcess newProcess() throws IOException {
        return new GatewayProcess(
                new GatewayConfig(
                        socket(),
                        directory.resolve("unused"),
                        0,
                        0,
                        List.of(outsideDns.address()),
                        List.of(),
                        Set.of(),
                        1000,
                        2,
                        tls,
                        Optional.empty()),
                this::sockets);
    }

    private SocketSource.Sockets sockets(int number) throws IOException {
        Path namespace = Path.of("/run/netns", slot);
        try (NamespaceSockets opened =
                NamespaceSockets.open(
                        namespace,
                        PrivilegedLimits.EGRESS_TCP_PORT,
                        PrivilegedLimits.EGRESS_BACKLOG,
                        PrivilegedLimits.EGRESS_DNS_PORT)) {
            return new SocketSource.Sockets(opened.listener().take(), opened.datagram().take());
        }
    }

    void bind(long version, String policy) {
        bind(version, policy, "");
    }

    void bind(long version, String policy, String grants) {
        var _ =
                GatewayGrpc.newBlockingStub(channel.channel())
                        .withDeadlineAfter(20, TimeUnit.SECONDS)
                        .withWaitForReady()
                        .bind(
                                Rig.request(Rig.SESSION, 1, version, policy).toBuilder()
                                        .setGrantsJson(grants)
                                        .build());
    }

    void restart() throws IOException {
        channel.close();
        process.close();
        process = newProcess();
        channel = GatewayChannel.open(socket());
    }

    /** Runs in the guest's namespace. */
    String guest(String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", guest));
        all.addAll(List.of(command));
        return NamespaceIT.run(all, "");
    }

    private static void ip(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("ip"));
        all.addAll(List.of(arguments));
        check(NamespaceIT.run(all, ""));
    }

    private static void check(String output) throws IOException {
        if (!output.isEmpty()) {
            throw new IOException(output);
        }
    }

    /** Leaves nothing on the machine. */
    void remove() throws Exception {
        channel.close();
        process.close();
        outsideDns.close();
        ip("netns", "del", guest);
        ip("netns", "del", slot);
        Path configuration = Path.of("/etc/netns", guest);
        Files.deleteIfExists(configuration.resolve("resolv.conf"));
        Files.deleteIfExists(configuration);
    }
}
