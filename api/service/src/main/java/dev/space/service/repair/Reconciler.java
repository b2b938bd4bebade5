package dev.space.service.repair;

import dev.space.contract.session.InFlight;
import dev.space.contract.session.NodeChange;
import dev.space.contract.session.SessionRecord;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import dev.space.service.command.Dispatcher;
import dev.space.service.command.SessionWorkflows;
import dev.space.service.config.SpaceConfig;
import dev.space.store.AuditRows;
import dev.space.store.DurableRows;
import dev.space.store.GrantRows;
import dev.space.store.OperationRow;
import dev.space.store.RepairStore;
import dev.space.store.SessionRow;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.scheduler.Scheduled;
import io.quarkus.scheduler.Scheduled.ConcurrentExecution;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * Compares what is wanted, what is recorded and what runs, and repairs. Any number of instances may
 * run it: rows are claimed with SKIP LOCKED, and whole scans are one instance's turn.
 */
@Singleton
public class Reconciler {
    private static final int CLAIM_MAX = 100;

    /** Events that are chained in one transaction, and such transactions of one turn. */
    private static final int CHAIN_MAX = 500;

    private static final int CHAIN_ROUNDS_MAX = 20;
    private static final int SCAN_MAX = 200;
    private static final long SCAN_LOCK = 0x5bace_0001L;
    private static final long POLICY_LOCK = 0x5bace_0002L;

    /** An operation that takes this many times as long as an unsent command waits is looked at. */
    private static final int LOST_FACTOR = 3;

    /** A session that changed just now is on its way; looking would only disturb. */
    private static final Duration QUIET = Duration.ofSeconds(30);

    private static final Logger LOG = Logger.getLogger(Reconciler.class);

    private final RepairStore rows;
    private final DurableRows durables;
    private final Dispatcher dispatcher;
    private final SessionWorkflows workflows;
    private final Inventory inventory;
    private final SessionPolicies policies;
    private final SnapshotQuotas quotas;
    private final GrantRows grants;
    private final AuditRows audit;
    private final SpaceConfig config;
    private final MeterRegistry metrics;
    private final Set<String> lostNodes = new HashSet<>();
    private String scanned = "";

    @Inject
    public Reconciler(
            RepairStore rows,
            DurableRows durables,
            Dispatcher dispatcher,
            SessionWorkflows workflows,
            Inventory inventory,
            SessionPolicies policies,
            SnapshotQuotas quotas,
            GrantRows grants,
            AuditRows audit,
            SpaceConfig config,
            MeterRegistry metrics) {
        this.rows = rows;
        this.durables = durables;
        this.dispatcher = dispatcher;
        this.workflows = workflows;
        this.inventory = inventory;
        this.policies = policies;
        this.quotas = quotas;
        this.grants = grants;
        this.audit = audit;
        this.config = config;
        this.metrics = metrics;
    }

    @Scheduled(
            every = "${space.control.reconcile-every:10s}",
            delayed = "5s",
            concurrentExecution = ConcurrentExecution.SKIP)
    @RunOnVirtualThread
    void run() {
        if (!config.roles().contains("api")) {
            return;
        }
        step("resend", this::resend);
        step("lost", this::deliverLost);
        step("leases", this::tellOfLeases);
        step("cleanup", () -> inventory.payOwed(CLAIM_MAX));
        step("scan", () -> rows.withTurn(SCAN_LOCK, this::scan));
        step("uploads", durables::giveUpDead);
        step("audit", this::chainEvents);
        step("grants", () -> grants.expire(CLAIM_MAX));
        step("policies", () -> rows.withTurn(POLICY_LOCK, this::policies));
        step("keys", () -> rows.expireKeys(config.control().idempotencyKeep()));
    }

    /** Bounded, so that what came at once does not hold up the rest. */
    private void chainEvents() {
        for (int i = 0; i < CHAIN_ROUNDS_MAX && audit.chain(CHAIN_MAX) == CHAIN_MAX; i++) {
            metrics.counter("space_audit_chain_rounds").increment();
        }
    }

    private void policies() {
        policies.store();
        policies.idle();
        quotas.look();
    }

    private void step(String name, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException failure) {
            // The next turn tries again; one part that fails must not stop the others.
            metrics.counter("space_reconcile_failures", "step", name).increment();
            LOG.warnf("reconcile %s failed: %s", name, failure.toString());
        }
    }

    /** Rows that nobody sent, because the process that wrote them died (rule: only REQUESTED). */
    void resend() {
        for (OperationRow row : rows.claimRequested(config.control().resendAfter(), CLAIM_MAX)) {
            LOG.infof("sending %s %s again", row.kind(), row.id());
            metrics.counter("space_reconcile_resent").increment();
            var _ = dispatcher.send(row);
        }
    }

    /**
     * Operations that their row has accepted and no workflow knows of: the workflow service lost
     * what it had not written when its disk was full or its power went. Sent again, the workflow
     * takes up what its row has in flight. Nothing else would: until then the session refuses.
     */
    void deliverLost() {
        Duration age = config.control().resendAfter().multipliedBy(LOST_FACTOR);
        for (OperationRow row : rows.claimAccepted(age, CLAIM_MAX)) {
            if (isLost(row)) {
                LOG.warnf("no workflow knows of %s %s; sending it again", row.kind(), row.id());
                metrics.counter("space_reconcile_lost").increment();
                var _ = dispatcher.send(row);
            }
        }
    }

    private boolean isLost(OperationRow row) {
        try {
            SessionRecord record = workflows.record(row.session());
            InFlight inFlight = record.inFlight();
            // Of a VM that is not there the node's list tells, and from that a recovery follows.
            boolean automatic =
                    row.kind() == OperationKind.RECOVER && record.state() != SessionState.FAILED;
            return !automatic && (inFlight == null || !inFlight.operation().equals(row.id()));
        } catch (RuntimeException unreachable) {
            LOG.debugf("the workflow of %s cannot be asked: %s", row.session(), unreachable);
            return false;
        }
    }

    /** Sessions whose node was cut off, or is back. */
    private void tellOfLeases() {
        Set<String> lost = new HashSet<>(rows.nodesLost(Duration.ofHours(1)));
        for (String node : lost) {
            if (lostNodes.add(node)) {
                LOG.warnf("the lease of node %s is over", node);
                tell(node, NodeChange.Kind.LEASE_LOST);
            }
        }
        for (String node : List.copyOf(lostNodes)) {
            if (!lost.contains(node)) {
                lostNodes.remove(node);
                LOG.infof("node %s is back", node);
                tell(node, NodeChange.Kind.BACK);
            }
        }
    }

    private void tell(String node, NodeChange.Kind kind) {
        for (SessionId session : rows.sessionsOn(node, 10_000)) {
            workflows.signal(session, "nodeChanged", new NodeChange(node, kind));
        }
    }

    /** A page of sessions that should have a workflow, and the nodes' inventories. */
    private void scan() {
        List<SessionRow> page = rows.alive(scanned, QUIET, SCAN_MAX);
        scanned = page.size() < SCAN_MAX ? "" : page.getLast().id().value();
        for (SessionRow row : page) {
            if (!workflows.isRunning(row.id())) {
                LOG.warnf("session %s has no workflow; starting it again", row.id());
                metrics.counter("space_reconcile_revived").increment();
                revive(row);
            }
        }
        inventory.compare();
    }

    private void revive(SessionRow row) {
        try {
            workflows.revive(row);
        } catch (SpaceException failure) {
            LOG.warnf("session %s cannot be started again: %s", row.id(), failure.getMessage());
        }
    }
}
