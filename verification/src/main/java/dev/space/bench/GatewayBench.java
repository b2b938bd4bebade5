package dev.space.bench;

import dev.space.bench.gateway.Figures;
import dev.space.bench.gateway.GatewayRig;
import dev.space.bench.gateway.GatewayRig.Way;
import dev.space.bench.gateway.Mode;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the network gateway costs: the same client and server, directly, through the gateway and
 * through mitmproxy, in turn, so that what the machine does meanwhile hits all alike. Three things
 * are taken: the time of single requests, the rate of many, the flow of large answers.
 */
final class GatewayBench {

    private static final List<String> PROTOCOLS = List.of("h1", "h2");
    private static final int ROUNDS = 3;

    private static final int SMALL_BYTES = 1024;
    private static final int LARGE_BYTES = 16 << 20;
    private static final int ENDLESS = 100_000_000;
    private static final int RATE_MILLIS = 1500;
    private static final int FLOW_MILLIS = 1500;
    private static final int WARM_UP_MILLIS = 3000;
    private static final int SINGLE_MILLIS_MAX = 60_000;
    private static final int CONNECTIONS_H1 = 32;
    private static final int CONNECTIONS_H2 = 4;
    private static final int STREAMS_H2 = 8;
    private static final int CONNECTIONS_OF_FLOW = 4;
    private static final double MEGA = 1e6;

    private final Options options;

    GatewayBench(Options options) {
        this.options = options;
    }

    /** What was taken on one way. */
    private static final class Taken {
        final Samples single = new Samples();
        final List<Double> rates = new ArrayList<>();
        final List<Double> flows = new ArrayList<>();
        int failed;

        private static double median(List<Double> values) {
            List<Double> sorted = values.stream().sorted().toList();
            return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
        }

        double rate() {
            return median(rates);
        }

        double flow() {
            return median(flows);
        }
    }

    List<BenchResult> run() throws IOException, GeneralSecurityException {
        Map<String, String> env = System.getenv();
        String release = env.get("SPACE_RELEASE");
        String jvm = env.get("SPACE_GATEWAY_JVM");
        if (release == null || jvm == null) {
            throw new IOException("start this by ./space bench gateway");
        }
        List<String> gatewayOptions = Stream.of(jvm.split(" ", -1)).toList();
        List<BenchResult> results = new ArrayList<>();
        try (GatewayRig rig = GatewayRig.start(Path.of(release), options.cache(), gatewayOptions)) {
            try {
                rig.withPeer();
            } catch (IOException e) {
                System.err.println(
                        "space: mitmproxy cannot be had, so there is no peer_ratio: "
                                + e.getMessage());
            }
            for (Mode mode : Mode.values()) {
                rig.use(mode);
                for (String protocol : PROTOCOLS) {
                    results.add(measure(rig, mode, protocol));
                }
            }
        }
        return results;
    }

    private BenchResult measure(GatewayRig rig, Mode mode, String protocol) throws IOException {
        Map<Way, Taken> taken = new EnumMap<>(Way.class);
        for (Way way : Way.values()) {
            if (way == Way.PEER && !rig.hasPeer()) {
                continue;
            }
            if (way == Way.PEER) {
                rig.awaitPeer(mode, protocol);
            }
            taken.put(way, new Taken());
            Figures _ = rate(rig, way, mode, protocol, WARM_UP_MILLIS);
            Figures _ = flow(rig, way, mode, protocol);
        }
        int each = Math.max(1, options.n() / ROUNDS);
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<Way, Taken> one : taken.entrySet()) {
                take(rig, one.getKey(), mode, protocol, one.getValue(), each);
            }
        }
        return result(mode, protocol, taken, each * ROUNDS);
    }

    private static void take(
            GatewayRig rig, Way way, Mode mode, String protocol, Taken taken, int each)
            throws IOException {
        Figures single = rig.run(way, mode, protocol, 1, 1, SMALL_BYTES, each, SINGLE_MILLIS_MAX);
        single.times().forEach(nanos -> taken.single.add(Duration.ofNanos(nanos)));
        Figures rate = rate(rig, way, mode, protocol, RATE_MILLIS);
        taken.rates.add(rate.requestsPerSecond());
        Figures flow = flow(rig, way, mode, protocol);
        taken.flows.add(flow.bytesPerSecond() / MEGA);
        taken.failed += rate.failed() + flow.failed();
    }

    private static Figures rate(GatewayRig rig, Way way, Mode mode, String protocol, int millis)
            throws IOException {
        boolean h2 = protocol.equals("h2");
        int connections = h2 ? CONNECTIONS_H2 : CONNECTIONS_H1;
        int streams = h2 ? STREAMS_H2 : 1;
        return rig.run(way, mode, protocol, connections, streams, SMALL_BYTES, ENDLESS, millis);
    }

    private static Figures flow(GatewayRig rig, Way way, Mode mode, String protocol)
            throws IOException {
        return rig.run(
                way, mode, protocol, CONNECTIONS_OF_FLOW, 1, LARGE_BYTES, ENDLESS, FLOW_MILLIS);
    }

    /** What failed on the gateway's way counts as tried, so that the run is not a whole one. */
    private static BenchResult result(
            Mode mode, String protocol, Map<Way, Taken> taken, int singles) {
        Taken direct = taken.getOrDefault(Way.DIRECT, new Taken());
        Taken gateway = taken.getOrDefault(Way.GATEWAY, new Taken());
        Map<String, Double> extra = new LinkedHashMap<>();
        extra.put("added_p50_ms", gateway.single.millis(50) - direct.single.millis(50));
        extra.put("requests_per_s", gateway.rate());
        extra.put("direct_requests_per_s", direct.rate());
        extra.put("throughput_mb_s", gateway.flow());
        extra.put("direct_throughput_mb_s", direct.flow());
        extra.put("throughput_ratio", gateway.flow() / direct.flow());
        Taken peer = taken.get(Way.PEER);
        if (peer != null) {
            extra.put("peer_requests_per_s", peer.rate());
            extra.put("peer_throughput_mb_s", peer.flow());
            extra.put("peer_p50_ms", peer.single.millis(50));
            extra.put("peer_failed", (double) peer.failed);
            extra.put("peer_ratio", gateway.rate() / peer.rate());
        }
        return new BenchResult(
                "gateway",
                mode.wireName(),
                protocol,
                singles + gateway.failed,
                gateway.single,
                "direct",
                direct.single,
                extra);
    }
}
