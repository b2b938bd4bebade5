package dev.space.service.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.BeginTemplateReply;
import dev.space.nodeapi.v1.BeginTemplateRequest;
import dev.space.nodeapi.v1.CompleteTemplateRequest;
import dev.space.nodeapi.v1.Done;
import dev.space.nodeapi.v1.FindTemplateRequest;
import dev.space.nodeapi.v1.LineageKeyReply;
import dev.space.nodeapi.v1.LineageKeyRequest;
import dev.space.nodeapi.v1.NetworkPolicy;
import dev.space.nodeapi.v1.NetworkRequest;
import dev.space.nodeapi.v1.NodeReportsGrpc;
import dev.space.nodeapi.v1.RegisterReply;
import dev.space.nodeapi.v1.RegisterRequest;
import dev.space.nodeapi.v1.RenewReply;
import dev.space.nodeapi.v1.RenewRequest;
import dev.space.nodeapi.v1.ReportAck;
import dev.space.nodeapi.v1.ReportBatch;
import dev.space.nodeapi.v1.SessionEpoch;
import dev.space.nodeapi.v1.StoredTemplate;
import dev.space.nodeapi.v1.TemplateState;
import dev.space.service.config.SpaceConfig;
import dev.space.service.key.LineageKeys;
import dev.space.store.NetworkRows;
import dev.space.store.NodeStore;
import io.grpc.stub.StreamObserver;
import io.quarkus.grpc.GrpcService;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;

/** What nodes tell the control plane. */
@GrpcService
@RunOnVirtualThread
public class NodeReportsService extends NodeReportsGrpc.NodeReportsImplBase {
    private static final Logger LOG = Logger.getLogger(NodeReportsService.class);
    private static final Pattern NODE_ID = Pattern.compile("[a-z0-9-]{1,40}");

    private final NodeStore nodes;
    private final ReportIntake intake;
    private final LineageKeys keys;
    private final NetworkRows networks;
    private final TemplateExchange templates;
    private final Duration lease;

    @Inject
    public NodeReportsService(
            NodeStore nodes,
            ReportIntake intake,
            LineageKeys keys,
            NetworkRows networks,
            TemplateExchange templates,
            SpaceConfig config) {
        this.nodes = nodes;
        this.intake = intake;
        this.keys = keys;
        this.networks = networks;
        this.templates = templates;
        this.lease = config.node().lease();
    }

    @Override
    public void register(RegisterRequest request, StreamObserver<RegisterReply> answer) {
        reply(
                answer,
                () -> {
                    if (!NODE_ID.matcher(request.getNodeId()).matches()) {
                        throw new SpaceException(
                                ErrorCode.INVALID_ARGUMENT, "node_id must match " + NODE_ID);
                    }
                    nodes.register(registration(request), lease);
                    LOG.infof("node %s registered", request.getNodeId());
                    return RegisterReply.newBuilder().setLeaseMillis(lease.toMillis()).build();
                });
    }

    private static NodeStore.Registration registration(RegisterRequest request) {
        String engine = request.getEnginesCount() == 0 ? "none" : request.getEngines(0).getName();
        StringBuilder engines = new StringBuilder("[");
        for (int i = 0; i < request.getEnginesCount(); i++) {
            engines.append(i == 0 ? "" : ",");
            try {
                engines.append(JsonFormat.printer().print(request.getEngines(i)));
            } catch (InvalidProtocolBufferException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return new NodeStore.Registration(
                request.getNodeId(),
                request.getApiAddress(),
                engine,
                engines.append(']').toString(),
                request.getVersion(),
                request.getMemoryBytes(),
                request.getDiskBytes(),
                request.getSlots(),
                templates(request.getTemplatesList()));
    }

    private static List<NodeStore.Template> templates(List<TemplateState> templates) {
        return templates.stream()
                .map(t ->
                        new NodeStore.Template(
                                t.getDigest(),
                                t.getName(),
                                t.getSizesReadyList().stream().toList()))
                .toList();
    }

    @Override
    public void renew(RenewRequest request, StreamObserver<RenewReply> answer) {
        reply(
                answer,
                () -> {
                    Optional<List<NodeStore.SessionEpoch>> pairs =
                            nodes.renew(
                                    request.getNodeId(),
                                    request.getMemoryFreeBytes(),
                                    request.getDiskFreeBytes(),
                                    request.getSlotsFree(),
                                    templates(request.getTemplatesList()),
                                    lease);
                    RenewReply.Builder reply =
                            RenewReply.newBuilder()
                                    .setLeaseMillis(lease.toMillis())
                                    .setUnknownNode(pairs.isEmpty());
                    for (NodeStore.SessionEpoch pair : pairs.orElse(List.of())) {
                        reply.addSessions(
                                SessionEpoch.newBuilder()
                                        .setSessionId(pair.session())
                                        .setEpoch(pair.epoch())
                                        .setNetworkVersion(pair.networkVersion()));
                    }
                    return reply.build();
                });
    }

    @Override
    public void report(ReportBatch batch, StreamObserver<ReportAck> answer) {
        reply(answer, () -> ReportAck.newBuilder().setAcknowledged(intake.take(batch)).build());
    }

    @Override
    public void lineageKey(LineageKeyRequest request, StreamObserver<LineageKeyReply> answer) {
        reply(
                answer,
                () -> {
                    byte[] key =
                            keys.forNode(
                                    new SessionId(request.getSessionId()), request.getNodeId());
                    LineageKeyReply reply =
                            LineageKeyReply.newBuilder().setKey(ByteString.copyFrom(key)).build();
                    Arrays.fill(key, (byte) 0);
                    return reply;
                });
    }

    @Override
    public void network(NetworkRequest request, StreamObserver<NetworkPolicy> answer) {
        reply(
                answer,
                () -> {
                    SessionId session = new SessionId(request.getSessionId());
                    NetworkRows.Network network =
                            networks.forNode(session, request.getNodeId())
                                    .orElseThrow(() ->
                                            new SpaceException(
                                                    ErrorCode.STALE_FENCE,
                                                    "session "
                                                            + session
                                                            + " is not on node "
                                                            + request.getNodeId()));
                    return NetworkPush.message(network);
                });
    }

    @Override
    public void beginTemplate(
            BeginTemplateRequest request, StreamObserver<BeginTemplateReply> answer) {
        reply(answer, () -> templates.begin(request));
    }

    @Override
    public void completeTemplate(CompleteTemplateRequest request, StreamObserver<Done> answer) {
        reply(
                answer,
                () -> {
                    templates.complete(request);
                    return Done.getDefaultInstance();
                });
    }

    @Override
    public void findTemplate(FindTemplateRequest request, StreamObserver<StoredTemplate> answer) {
        reply(answer, () -> templates.find(request));
    }

    private static <T> void reply(StreamObserver<T> answer, Supplier<T> work) {
        try {
            answer.onNext(work.get());
            answer.onCompleted();
        } catch (SpaceException failure) {
            answer.onError(NodeErrors.toStatus(failure));
        } catch (RuntimeException defect) {
            LOG.error("a report failed", defect);
            answer.onError(
                    NodeErrors.toStatus(
                            new SpaceException(ErrorCode.INTERNAL, "see the control plane's log")));
        }
    }
}
