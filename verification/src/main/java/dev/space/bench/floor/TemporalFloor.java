package dev.space.bench.floor;

import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WithStartWorkflowOperation;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerOptions;
import java.time.Duration;
import java.util.UUID;

/** A worker and a client of their own on the platform's Temporal server. */
public final class TemporalFloor implements AutoCloseable {

    /** As many pollers as the control plane may need for parallel starts. */
    private static final int POLLERS = 10;

    private final WorkflowServiceStubs service;
    private final WorkflowClient client;
    private final WorkerFactory workers;
    private final String queue = "bench-" + UUID.randomUUID();

    private TemporalFloor(String target, String namespace) {
        service =
                WorkflowServiceStubs.newServiceStubs(
                        WorkflowServiceStubsOptions.newBuilder().setTarget(target).build());
        client =
                WorkflowClient.newInstance(
                        service,
                        WorkflowClientOptions.newBuilder().setNamespace(namespace).build());
        workers = WorkerFactory.newInstance(client);
    }

    public static TemporalFloor start(String target, String namespace) {
        TemporalFloor floor = new TemporalFloor(target, namespace);
        var worker =
                floor.workers.newWorker(
                        floor.queue,
                        WorkerOptions.newBuilder()
                                .setMaxConcurrentWorkflowTaskPollers(POLLERS)
                                .build());
        worker.registerWorkflowImplementationTypes(FloorFlow.class);
        worker.registerActivitiesImplementations((FloorActivity) request -> request);
        floor.workers.start();
        return floor;
    }

    /** Starts a workflow and waits for the answer to its Update. */
    public Duration updateWithStart(int index) {
        long began = System.nanoTime();
        FloorWorkflow stub =
                client.newWorkflowStub(
                        FloorWorkflow.class,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(queue)
                                .setWorkflowId(queue + "-" + index + "-" + UUID.randomUUID())
                                .setWorkflowIdConflictPolicy(
                                        WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
                                .build());
        String answer =
                WorkflowClient.executeUpdateWithStart(
                        stub::create,
                        "request",
                        UpdateOptions.<String>newBuilder()
                                .setWaitForStage(WorkflowUpdateStage.COMPLETED)
                                .build(),
                        new WithStartWorkflowOperation<>(stub::run));
        if (!answer.equals("request")) {
            throw new IllegalStateException("the floor's activity answered " + answer);
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    @Override
    public void close() {
        workers.shutdownNow();
        service.shutdownNow();
    }
}
