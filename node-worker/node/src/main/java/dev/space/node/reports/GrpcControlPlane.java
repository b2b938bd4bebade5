package dev.space.node.reports;

import dev.space.nodeapi.v1.BeginTemplateReply;
import dev.space.nodeapi.v1.BeginTemplateRequest;
import dev.space.nodeapi.v1.CompleteTemplateRequest;
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
import dev.space.nodeapi.v1.StoredTemplate;
import io.grpc.CallCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The control plane over gRPC, plain text h2, with the node token. */
public final class GrpcControlPlane implements ControlPlane {

    private static final long CALL_SECONDS = 10;
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final ManagedChannel channel;
    private final NodeReportsGrpc.NodeReportsBlockingStub stub;

    /** The target is {@code host:port}; the token is asked for at each call. */
    public GrpcControlPlane(String target, Supplier<String> token) {
        this.channel = NettyChannelBuilder.forTarget(target).usePlaintext().build();
        this.stub =
                NodeReportsGrpc.newBlockingStub(channel)
                        .withCallCredentials(
                                new CallCredentials() {
                                    @Override
                                    public void applyRequestMetadata(
                                            RequestInfo info,
                                            Executor executor,
                                            MetadataApplier applier) {
                                        Metadata headers = new Metadata();
                                        headers.put(AUTHORIZATION, "Bearer " + token.get());
                                        applier.apply(headers);
                                    }
                                });
    }

    private NodeReportsGrpc.NodeReportsBlockingStub bounded() {
        return stub.withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public RegisterReply register(RegisterRequest request) {
        return bounded().register(request);
    }

    @Override
    public RenewReply renew(RenewRequest request) {
        return bounded().renew(request);
    }

    @Override
    public ReportAck report(ReportBatch batch) {
        return bounded().report(batch);
    }

    @Override
    public LineageKeyReply lineageKey(LineageKeyRequest request) {
        return bounded().lineageKey(request);
    }

    @Override
    public NetworkPolicy network(NetworkRequest request) {
        return bounded().network(request);
    }

    @Override
    public BeginTemplateReply beginTemplate(BeginTemplateRequest request) {
        return bounded().beginTemplate(request);
    }

    @Override
    public void completeTemplate(CompleteTemplateRequest request) {
        var _ = bounded().completeTemplate(request);
    }

    @Override
    public StoredTemplate findTemplate(FindTemplateRequest request) {
        return bounded().findTemplate(request);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
