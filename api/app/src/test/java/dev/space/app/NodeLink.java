package dev.space.app;

import com.google.protobuf.ByteString;
import dev.space.model.Fence;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.EngineCapabilities;
import dev.space.nodeapi.v1.LineageKeyRequest;
import dev.space.nodeapi.v1.NetworkPolicy;
import dev.space.nodeapi.v1.NetworkRequest;
import dev.space.nodeapi.v1.NodeReportsGrpc;
import dev.space.nodeapi.v1.NodeReportsGrpc.NodeReportsBlockingStub;
import dev.space.nodeapi.v1.RegisterRequest;
import dev.space.nodeapi.v1.RenewRequest;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.ReportBatch;
import dev.space.nodeapi.v1.TemplateState;
import dev.space.nodeapi.v1.VmExited;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What a node says to the control planes: registration, lease, reports. Either one will do. */
final class NodeLink implements AutoCloseable {
    static final String DIGEST = "a".repeat(64);
    static final Duration LEASE = Duration.ofSeconds(8);
    static final int SLOTS = 500;
    private static final int REPORT_TRIES = 5;
    private static final System.Logger LOG = System.getLogger(NodeLink.class.getName());
    private static final TemplateState TEMPLATE =
            TemplateState.newBuilder()
                    .setDigest(DIGEST)
                    .setName("default")
                    .addSizesReady("small")
                    .build();

    private final List<ManagedChannel> channels;
    private final String id;
    private final String address;
    private final int slots;
    private final AtomicLong sequence = new AtomicLong();
    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
    private volatile boolean renews;

    NodeLink(List<Integer> ports, String id, String address, int slots) {
        this.id = id;
        this.address = address;
        this.slots = slots;
        this.channels =
                ports.stream()
                        .map(port ->
                                NettyChannelBuilder.forAddress("127.0.0.1", port)
                                        .usePlaintext()
                                        .build())
                        .toList();
        var _ = clock.scheduleAtFixedRate(this::renew, 1, 2, TimeUnit.SECONDS);
    }

    private static NodeReportsBlockingStub stub(ManagedChannel channel) {
        Metadata headers = new Metadata();
        headers.put(
                Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
                "Bearer " + Platform.TOKEN);
        return NodeReportsGrpc.newBlockingStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .withDeadlineAfter(10, TimeUnit.SECONDS);
    }

    void register() {
        var _ =
                stub(channels.getFirst())
                        .register(
                                RegisterRequest.newBuilder()
                                        .setNodeId(id)
                                        .setApiAddress(address)
                                        .addEngines(EngineCapabilities.newBuilder().setName("fake"))
                                        .addTemplates(TEMPLATE)
                                        .setMemoryBytes(64L << 30)
                                        .setDiskBytes(64L << 30)
                                        .setSlots(slots)
                                        .setVersion("test")
                                        .build());
    }

    /** Without it the lease runs out. */
    void renewing(boolean yes) {
        renews = yes;
    }

    private void renew() {
        for (ManagedChannel channel : renews ? channels : List.<ManagedChannel>of()) {
            try {
                var _ =
                        stub(channel)
                                .renew(
                                        RenewRequest.newBuilder()
                                                .setNodeId(id)
                                                .setMemoryFreeBytes(64L << 30)
                                                .setDiskFreeBytes(64L << 30)
                                                .setSlotsFree(slots)
                                                .addTemplates(TEMPLATE)
                                                .build());
                return;
            } catch (StatusRuntimeException gone) {
                LOG.log(System.Logger.Level.INFO, "{0}; the other one will do", gone.getStatus());
            }
        }
    }

    /** As a node asks for the key under which a session is stored. */
    ByteString lineageKey(String node, String session) {
        return stub(channels.getFirst())
                .lineageKey(
                        LineageKeyRequest.newBuilder()
                                .setNodeId(node)
                                .setSessionId(session)
                                .build())
                .getKey();
    }

    /** As a node asks what a session may reach. */
    NetworkPolicy network(String node, String session) {
        return stub(channels.getFirst())
                .network(NetworkRequest.newBuilder().setNodeId(node).setSessionId(session).build());
    }

    /** As a node passes on what its gateway recorded: the same batch again where a call is lost. */
    void audited(String session, AuditRecord.Builder audit) {
        ReportBatch batch =
                ReportBatch.newBuilder()
                        .setNodeId(id)
                        .addReports(
                                Report.newBuilder()
                                        .setSequence(nextSequence())
                                        .setSessionId(session)
                                        .setAtMillis(System.currentTimeMillis())
                                        .setAudit(audit))
                        .build();
        for (int left = REPORT_TRIES - 1; ; left--) {
            try {
                var _ = stub(channels.getFirst()).report(batch);
                return;
            } catch (StatusRuntimeException lost) {
                if (left == 0) {
                    throw lost;
                }
            }
        }
    }

    long nextSequence() {
        return sequence.incrementAndGet();
    }

    /** Reports the end of a VM; answers the sequence that was acknowledged. */
    long vmExited(long number, String session, Fence start, String reason, String detail) {
        return stub(channels.getFirst())
                .report(
                        ReportBatch.newBuilder()
                                .setNodeId(id)
                                .addReports(
                                        Report.newBuilder()
                                                .setSequence(number)
                                                .setSessionId(session)
                                                .setEpoch(start.epoch())
                                                .setNumber(start.number())
                                                .setAttempt(start.attempt())
                                                .setAtMillis(System.currentTimeMillis())
                                                .setVmExited(
                                                        VmExited.newBuilder()
                                                                .setReason(reason)
                                                                .setDetail(detail)))
                                .build())
                .getAcknowledged();
    }

    @Override
    public void close() {
        clock.shutdownNow();
        channels.forEach(ManagedChannel::shutdownNow);
    }
}
