package dev.space.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.contract.TaskQueues;
import dev.space.contract.session.CommandAnswer;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.RecoveryPolicy;
import dev.space.contract.session.SessionAttributes;
import dev.space.contract.session.SessionRecord;
import dev.space.contract.session.SessionStart;
import dev.space.contract.session.SessionWorkflow;
import dev.space.contract.session.SubmitCommand;
import dev.space.contract.session.VmExit;
import dev.space.model.Command;
import dev.space.model.Fence;
import dev.space.model.Ids;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.OperationState;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.Size;
import dev.space.testkit.FakeBucket;
import dev.space.testkit.FakeDirectNodes;
import dev.space.testkit.FakeNode;
import dev.space.testkit.FakeStore;
import dev.space.testkit.Faults;
import io.temporal.api.enums.v1.IndexedValueType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WithStartWorkflowOperation;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateHandle;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.testing.TestEnvironmentOptions;
import io.temporal.testing.TestWorkflowEnvironment;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A test server, two fake nodes, a fake store, and a driver that does what the API does. */
final class World implements AutoCloseable {

    /** How long a test waits for something that must happen; never reached by a passing test. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Far over the second that Temporal grants: class loading alone can take it under load. */
    private static final Duration DEADLOCK = Duration.ofSeconds(30);

    /** After this a workflow task goes to another worker than the one that has the history. */
    private static final Duration STICKY = Duration.ofSeconds(1);

    /** A workflow task of a worker that died is given out again after this. */
    private static final Duration TASK = Duration.ofSeconds(2);

    /** How long a condition may take by itself before timers are skipped, and how far. */
    private static final Duration GLANCE = Duration.ofMillis(50);

    private static final Duration SKIP = Duration.ofMillis(500);

    static final String FIRST = "n1";
    static final String SECOND = "n2";

    final Faults faults;
    final FakeStore store;
    final FakeBucket bucket = new FakeBucket();
    final TestWorkflowEnvironment server;
    private final Map<String, FakeNode> nodes = new LinkedHashMap<>();
    private final Random random;
    private final boolean sticky;
    private final LostTasks lostTasks = new LostTasks();
    private final WorkerFactory workers;
    private WorkerFactory nodeWorkers;

    World(Faults faults, long seed, boolean sticky) {
        this.faults = faults;
        this.random = new Random(seed);
        this.store = new FakeStore(faults, List.of(FIRST, SECOND));
        for (String id : List.of(FIRST, SECOND)) {
            nodes.put(id, new FakeNode(id, faults, bucket));
        }
        this.sticky = sticky;
        TestEnvironmentOptions.Builder options = TestEnvironmentOptions.newBuilder();
        SessionAttributes.ALL.forEach(a ->
                options.registerSearchAttribute(
                        a.getName(), IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD));
        options.setWorkflowServiceStubsOptions(
                WorkflowServiceStubsOptions.newBuilder()
                        .setGrpcClientInterceptors(List.of(lostTasks))
                        .build());
        server = TestWorkflowEnvironment.newInstance(options.build());
        workers = startWorkers();
        nodeWorkers = startNodeWorkers();
    }

    private WorkerFactory startWorkers() {
        WorkerFactory made =
                WorkerFactory.newInstance(
                        server.getWorkflowClient(),
                        WorkerFactoryOptions.newBuilder()
                                .setWorkflowCacheSize(sticky ? 100 : 0)
                                .build());
        var control = made.newWorker(TaskQueues.CONTROL, workerOptions());
        control.registerWorkflowImplementationTypes(SessionWorkflowImpl.class);
        control.registerActivitiesImplementations(store, new FakeDirectNodes(nodes.values()));
        made.start();
        return made;
    }

    private WorkerFactory startNodeWorkers() {
        WorkerFactory made = WorkerFactory.newInstance(server.getWorkflowClient());
        nodes.forEach((id, node) ->
                made.newWorker(TaskQueues.node(id), workerOptions())
                        .registerActivitiesImplementations(node));
        made.start();
        return made;
    }

    /** Nobody takes what is sent to the nodes' queues: Temporal itself has to time out. */
    void stopNodeWorkers() {
        nodeWorkers.shutdownNow();
        nodeWorkers.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    void restartNodeWorkers() {
        nodeWorkers = startNodeWorkers();
    }

    /** A loaded machine must not look like a workflow that hangs. */
    static WorkerOptions workerOptions() {
        return WorkerOptions.newBuilder()
                .setDefaultDeadlockDetectionTimeout(DEADLOCK.toMillis())
                .setStickyQueueScheduleToStartTimeout(STICKY)
                .setMaxConcurrentWorkflowTaskPollers(2)
                .setMaxConcurrentActivityTaskPollers(2)
                .build();
    }

    /** The workers' process dies in its next workflow tasks, and another takes its place. */
    void crashWorkers(int tasks) {
        lostTasks.lose(tasks);
    }

    boolean serverIsStuck() {
        return lostTasks.serverIsStuck();
    }

    /** Waits until the condition on the rows holds; the timers that run meanwhile are skipped. */
    boolean awaitThat(Supplier<Boolean> condition) {
        return awaitThat(condition, PATIENCE);
    }

    boolean awaitThat(Supplier<Boolean> condition, Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        try {
            while (!store.awaitThat(condition, GLANCE)) {
                if (System.nanoTime() > until) {
                    return false;
                }
                server.sleep(SKIP);
            }
            return true;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static World calm() {
        return new World(Faults.none(), 1, true);
    }

    FakeNode node(String id) {
        FakeNode node = nodes.get(id);
        assertThat(node).isNotNull();
        return java.util.Objects.requireNonNull(node);
    }

    List<FakeNode> nodes() {
        return List.copyOf(nodes.values());
    }

    /** One session and the calls that the API makes for it. */
    final class Session {
        final SessionId id;
        private @Nullable DeadlinePolicy deadline;
        private @Nullable PolicyAction idle;
        private @Nullable RecoveryPolicy recovery;
        private boolean restored;
        private Duration taskTimeout = Duration.ofSeconds(10);
        private WorkflowIdReusePolicy reuse =
                WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE;

        Session() {
            this(store.insertSession(new SessionId(text(SessionId.PREFIX))).id);
        }

        /** One whose row is there. */
        Session(SessionId there) {
            id = there;
        }

        Session deadline(DeadlinePolicy policy) {
            deadline = policy;
            store.session(id).deadline = policy;
            return this;
        }

        Session idle(PolicyAction action) {
            idle = action;
            return this;
        }

        Session recovery(RecoveryPolicy policy) {
            recovery = policy;
            return this;
        }

        /** The workers will crash: their workflow tasks are given out again soon. */
        Session crashing() {
            taskTimeout = TASK;
            return this;
        }

        /** The workflow of a session that is in this state already. */
        Session restored(SessionState state) {
            restored = true;
            store.session(id).state = state;
            return this;
        }

        /** Starts the workflow without an Update. */
        void begin() {
            WorkflowClient.start(workflow()::run, start());
        }

        /** An operator terminates the workflow; the reconciler starts it again from the row. */
        void terminateAndRevive() {
            terminate();
            revive();
        }

        void terminate() {
            stub().terminate("by an operator");
        }

        void revive() {
            restored = true; // (rule 13: the only start that may duplicate)
            reuse = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE;
            begin();
        }

        FakeStore.Session row() {
            return store.session(id);
        }

        OperationId request(@Nullable Command command) {
            OperationId operation = newOperation();
            assertThat(store.request(id, operation, command)).isTrue();
            return operation;
        }

        CommandAnswer create() {
            return create(request(null));
        }

        CommandAnswer create(OperationId operation) {
            return withStart("create", operation, SubmitCommand.create(operation));
        }

        CommandAnswer destroy() {
            return destroy(request(Command.DESTROY));
        }

        CommandAnswer destroy(OperationId operation) {
            return withStart("destroy", operation, SubmitCommand.of(operation, Command.DESTROY));
        }

        /** Sends a command and waits until its row has ended. */
        OperationState run(Command command) {
            OperationId operation = request(command);
            submit(operation, command, null);
            return await(operation);
        }

        CommandAnswer submit(Command command) {
            return submit(request(command), command, null);
        }

        CommandAnswer submit(OperationId operation, Command command, @Nullable String name) {
            store.operation(operation).name = name;
            return begin("submit", operation, new SubmitCommand(operation, command, name))
                    .getResult();
        }

        WorkflowUpdateHandle<CommandAnswer> begin(
                String update, OperationId operation, SubmitCommand request) {
            return stub().startUpdate(options(update, operation), request);
        }

        OperationState await(OperationId operation) {
            awaitThat(() -> store.operation(operation).state.ended());
            return store.operation(operation).state;
        }

        /** Waits until the row is in this state and no operation is open. */
        void awaitState(SessionState state) {
            boolean reached = awaitThat(() -> row().state == state && quiet());
            assertThat(reached).as("row is %s, not %s", row().state, state).isTrue();
        }

        /** Sends a command without waiting for more than that the workflow has it. */
        void send(OperationId operation, Command command) {
            stub().startUpdate(
                            options("submit", operation, WorkflowUpdateStage.ACCEPTED),
                            SubmitCommand.of(operation, command));
        }

        /** Answers when all that was sent before was taken note of; it has no other effect. */
        CommandAnswer reachThrough(OperationId ended) {
            return stub().startUpdate(
                            options("submit", newOperation()),
                            SubmitCommand.of(ended, Command.RESUME))
                    .getResult();
        }

        List<OperationKind> open() {
            return store.operations(id).stream()
                    .filter(o -> !o.state.ended())
                    .map(o -> o.kind)
                    .toList();
        }

        boolean completed() {
            return stub().describe().getStatus()
                    == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED;
        }

        /** No run of the workflow is open: it completed, or was terminated. */
        boolean closed() {
            return stub().describe().getStatus()
                    != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
        }

        WorkflowExecutionHistory history() {
            return server.getWorkflowClient().fetchHistory(id.value());
        }

        /** No operation is open. */
        boolean quiet() {
            return store.operations(id).stream().allMatch(o -> o.state.ended());
        }

        /** The VM ends by itself and the node reports it. */
        Fence crash() {
            Fence start = node(java.util.Objects.requireNonNull(row().node)).exit(id);
            assertThat(start).isNotNull();
            report(java.util.Objects.requireNonNull(start));
            return start;
        }

        /** Waits until an automatic RECOVER has ended, either way. */
        void awaitRecovered() {
            boolean ended =
                    awaitThat(() ->
                            store.operations(id).stream()
                                    .anyMatch(o ->
                                            o.kind == OperationKind.RECOVER && o.state.ended()));
            assertThat(ended).as("a RECOVER has ended").isTrue();
        }

        void report(Fence start) {
            typed().vmExited(new VmExit(start, ReasonCode.GUEST_CRASH, "kernel panic"));
        }

        SessionRecord record() {
            return typed().record();
        }

        SessionWorkflow typed() {
            return server.getWorkflowClient().newWorkflowStub(SessionWorkflow.class, id.value());
        }

        WorkflowStub stub() {
            return server.getWorkflowClient().newUntypedWorkflowStub(id.value());
        }

        private SessionWorkflow workflow() {
            return server.getWorkflowClient()
                    .newWorkflowStub(
                            SessionWorkflow.class,
                            WorkflowOptions.newBuilder()
                                    .setWorkflowId(id.value())
                                    .setTaskQueue(TaskQueues.CONTROL)
                                    .setWorkflowTaskTimeout(taskTimeout)
                                    .setWorkflowIdReusePolicy(reuse)
                                    .setWorkflowIdConflictPolicy(
                                            WorkflowIdConflictPolicy
                                                    .WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING)
                                    .build());
        }

        private CommandAnswer withStart(
                String update, OperationId operation, SubmitCommand request) {
            SessionWorkflow workflow = workflow();
            var start = new WithStartWorkflowOperation<>(workflow::run, start());
            return update.equals("create")
                    ? WorkflowClient.executeUpdateWithStart(
                            workflow::create, request, start(), options(update, operation), start)
                    : WorkflowClient.executeUpdateWithStart(
                            workflow::destroy, request, start(), options(update, operation), start);
        }

        private UpdateOptions<CommandAnswer> options(String update, OperationId operation) {
            return options(update, operation, WorkflowUpdateStage.COMPLETED);
        }

        private UpdateOptions<CommandAnswer> options(
                String update, OperationId operation, WorkflowUpdateStage stage) {
            return UpdateOptions.newBuilder(CommandAnswer.class)
                    .setUpdateName(update)
                    .setUpdateId(operation.value())
                    .setWaitForStage(stage)
                    .build();
        }

        private SessionStart start() {
            return new SessionStart(
                    id,
                    new OrganisationId(text(OrganisationId.PREFIX)),
                    new ProjectId(text(ProjectId.PREFIX)),
                    "minimal",
                    "digest",
                    Size.XS,
                    5,
                    deadline,
                    idle,
                    recovery,
                    restored,
                    null,
                    false);
        }
    }

    OperationId newOperation() {
        return new OperationId(text(OperationId.PREFIX));
    }

    private String text(String prefix) {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(bytes);
        return Ids.text(prefix, bytes);
    }

    /** Nothing of the session is left on any node, and its row says so. */
    void nothingIsLeftOf(Session session) {
        assertThat(session.row().state).isEqualTo(SessionState.DESTROYED);
        for (FakeNode node : nodes.values()) {
            node.deliverLate();
            if (!session.row().owed.contains(node.id())) {
                assertThat(node.vm(session.id)).as("VM on " + node.id()).isNull();
                assertThat(node.snapshots(session.id)).as("snapshots on " + node.id()).isEmpty();
            }
        }
        assertThat(store.operations(session.id)).allMatch(o -> o.state.ended());
        store.collect(bucket);
        assertThat(bucket.keys()).noneMatch(key -> key.startsWith(session.id.value()));
    }

    @Override
    public void close() {
        workers.shutdownNow();
        nodeWorkers.shutdownNow();
        server.close();
    }
}
