package dev.space.node.app;

import dev.space.contract.TaskQueues;
import dev.space.contract.node.NodeActivities;
import dev.space.node.reports.Backoff;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Polls the node's task queue, from whenever the Temporal server can be reached. */
final class TemporalWorker implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TemporalWorker.class);

    private static final int ACTIVITIES_MAX = 64;
    private static final int POLLERS = 4;
    private static final Duration RETRY_FIRST = Duration.ofMillis(500);
    private static final Duration RETRY_MAX = Duration.ofSeconds(15);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final long STOP_SECONDS = 5;

    private final String target;
    private final String namespace;
    private final String nodeId;
    private final NodeActivities activities;
    private final Thread connector;
    private volatile @Nullable WorkflowServiceStubs service;
    private volatile @Nullable WorkerFactory factory;

    TemporalWorker(String target, String namespace, String nodeId, NodeActivities activities) {
        this.target = target;
        this.namespace = namespace;
        this.nodeId = nodeId;
        this.activities = activities;
        this.connector = Thread.ofVirtual().name("temporal-connect").unstarted(this::connect);
    }

    void start() {
        connector.start();
    }

    boolean isPolling() {
        return factory != null;
    }

    private void connect() {
        Backoff backoff = new Backoff(RETRY_FIRST, RETRY_MAX);
        while (true) {
            WorkflowServiceStubs stubs =
                    WorkflowServiceStubs.newServiceStubs(
                            WorkflowServiceStubsOptions.newBuilder().setTarget(target).build());
            try {
                stubs.connect(CONNECT_TIMEOUT);
                service = stubs;
                factory = poll(stubs);
                LOG.info("polling {} of {}", TaskQueues.node(nodeId), target);
                return;
            } catch (RuntimeException e) {
                stubs.shutdownNow();
                LOG.warn("Temporal at {} does not answer; trying again: {}", target, e.toString());
            }
            try {
                backoff.sleep();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private WorkerFactory poll(WorkflowServiceStubs stubs) {
        WorkflowClient client =
                WorkflowClient.newInstance(
                        stubs,
                        WorkflowClientOptions.newBuilder()
                                .setNamespace(namespace)
                                .setIdentity("node/" + nodeId)
                                .build());
        WorkerFactory made =
                WorkerFactory.newInstance(
                        client,
                        WorkerFactoryOptions.newBuilder()
                                .setUsingVirtualWorkflowThreads(true)
                                .build());
        Worker worker =
                made.newWorker(
                        TaskQueues.node(nodeId),
                        WorkerOptions.newBuilder()
                                .setLocalActivityWorkerOnly(false)
                                .setMaxConcurrentActivityExecutionSize(ACTIVITIES_MAX)
                                .setMaxConcurrentActivityTaskPollers(POLLERS)
                                .setUsingVirtualThreadsOnActivityWorker(true)
                                .build());
        worker.registerActivitiesImplementations(activities);
        made.start();
        return made;
    }

    @Override
    public void close() {
        connector.interrupt();
        WorkerFactory polling = factory;
        if (polling != null) {
            polling.shutdownNow();
            polling.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
        }
        WorkflowServiceStubs stubs = service;
        if (stubs != null) {
            stubs.shutdownNow();
        }
    }
}
