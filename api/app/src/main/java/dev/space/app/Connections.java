package dev.space.app;

import dev.space.nodeapi.NodeChannels;
import dev.space.service.config.SpaceConfig;
import dev.space.service.node.NodeTokens;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;

/** What the parts share: the clock, the workflow server, the nodes' channels. */
public class Connections {
    /** A call to the workflow server that takes longer failed; the reconciler sends it again. */
    private static final Duration RPC_MAX = Duration.ofSeconds(10);

    @Produces
    @Singleton
    Clock clock() {
        return Clock.systemUTC();
    }

    @Produces
    @Singleton
    NodeChannels channels(NodeTokens tokens) {
        return new NodeChannels(tokens::text);
    }

    void close(@Disposes NodeChannels channels) {
        channels.close();
    }

    @Produces
    @Singleton
    WorkflowServiceStubs stubs(SpaceConfig config) {
        return WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder()
                        .setTarget(config.temporal().target())
                        .setRpcTimeout(RPC_MAX)
                        .build());
    }

    void close(@Disposes WorkflowServiceStubs stubs) {
        stubs.shutdownNow();
    }

    @Produces
    @Singleton
    WorkflowClient client(WorkflowServiceStubs stubs, SpaceConfig config) {
        return WorkflowClient.newInstance(
                stubs,
                WorkflowClientOptions.newBuilder()
                        .setNamespace(config.temporal().namespace())
                        .build());
    }
}
