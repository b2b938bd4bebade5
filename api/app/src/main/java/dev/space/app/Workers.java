package dev.space.app;

import dev.space.activities.ControlActivitiesImpl;
import dev.space.activities.DirectNodeActivitiesImpl;
import dev.space.contract.TaskQueues;
import dev.space.contract.session.SessionAttributes;
import dev.space.service.config.SpaceConfig;
import dev.space.workflow.SessionWorkflowImpl;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.IndexedValueType;
import io.temporal.api.operatorservice.v1.AddSearchAttributesRequest;
import io.temporal.api.operatorservice.v1.ListSearchAttributesRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.common.SearchAttributeKey;
import io.temporal.serviceclient.OperatorServiceStubs;
import io.temporal.serviceclient.OperatorServiceStubsOptions;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerOptions;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The workers of the control queue: session workflows and their activities. */
@Singleton
public class Workers {
    private static final int STOP_SECONDS_MAX = 10;

    /** The SDK's one second is less than a busy machine may keep a thread waiting. */
    private static final long DEADLOCK_MILLIS = 10_000;

    private final WorkflowClient client;
    private final ControlActivitiesImpl rows;
    private final DirectNodeActivitiesImpl nodes;
    private final SpaceConfig config;
    private @Nullable WorkerFactory factory;

    @Inject
    public Workers(
            WorkflowClient client,
            ControlActivitiesImpl rows,
            DirectNodeActivitiesImpl nodes,
            SpaceConfig config) {
        this.client = client;
        this.rows = rows;
        this.nodes = nodes;
        this.config = config;
    }

    /** A workflow that sets an unknown attribute is stuck, so they come before the workers. */
    void registerSearchAttributes() {
        OperatorServiceStubs stubs =
                OperatorServiceStubs.newServiceStubs(
                        OperatorServiceStubsOptions.newBuilder()
                                .setTarget(config.temporal().target())
                                .validateAndBuildWithDefaults());
        try {
            String namespace = config.temporal().namespace();
            Set<String> known =
                    stubs.blockingStub()
                            .listSearchAttributes(
                                    ListSearchAttributesRequest.newBuilder()
                                            .setNamespace(namespace)
                                            .build())
                            .getCustomAttributesMap()
                            .keySet();
            AddSearchAttributesRequest.Builder request =
                    AddSearchAttributesRequest.newBuilder().setNamespace(namespace);
            for (SearchAttributeKey<String> key : SessionAttributes.ALL) {
                if (!known.contains(key.getName())) {
                    request.putSearchAttributes(
                            key.getName(), IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD);
                }
            }
            if (request.getSearchAttributesCount() > 0) {
                add(stubs, request.build());
            }
        } finally {
            stubs.shutdownNow();
        }
    }

    /** Another instance may have been faster. */
    private static void add(OperatorServiceStubs stubs, AddSearchAttributesRequest request) {
        try {
            var _ = stubs.blockingStub().addSearchAttributes(request);
        } catch (StatusRuntimeException failure) {
            if (failure.getStatus().getCode() != Status.Code.ALREADY_EXISTS) {
                throw failure;
            }
        }
    }

    synchronized void start() {
        if (factory != null) {
            return;
        }
        WorkerFactory made = WorkerFactory.newInstance(client);
        Worker worker =
                made.newWorker(
                        TaskQueues.CONTROL,
                        WorkerOptions.newBuilder()
                                .setMaxConcurrentWorkflowTaskPollers(config.control().pollers())
                                .setMaxConcurrentActivityTaskPollers(config.control().pollers())
                                .setDefaultDeadlockDetectionTimeout(DEADLOCK_MILLIS)
                                .build());
        worker.registerWorkflowImplementationTypes(SessionWorkflowImpl.class);
        worker.registerActivitiesImplementations(rows, nodes);
        made.start();
        factory = made;
    }

    synchronized void stop() {
        if (factory != null) {
            factory.shutdown();
            factory.awaitTermination(STOP_SECONDS_MAX, TimeUnit.SECONDS);
            factory = null;
        }
    }
}
