package dev.space.service.node;

import dev.space.contract.session.NodeFullReport;
import dev.space.contract.session.VmExit;
import dev.space.model.Fence;
import dev.space.model.Ids;
import dev.space.model.ReasonCode;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.nodeapi.v1.AuditRecord;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.ReportBatch;
import dev.space.nodeapi.v1.SnapshotsRemoved;
import dev.space.nodeapi.v1.VmExited;
import dev.space.service.command.SessionWorkflows;
import dev.space.store.NodeStore;
import dev.space.store.RepairStore;
import dev.space.store.SessionRow;
import dev.space.store.SnapshotRows;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jboss.logging.Logger;

/**
 * Takes batches of numbered reports in. A VM's exit is signalled before the batch is acknowledged;
 * when the signal fails the node sends the batch again, and the workflow knows a doubled report by
 * the start it names. Reports of an old epoch are dropped and counted.
 */
@Singleton
public class ReportIntake {
    /** Reports of one batch; a node sends the rest in the next. */
    static final int BATCH_MAX = 10_000;

    private static final int TEXT_CHARS_MAX = 4096;
    private static final Logger LOG = Logger.getLogger(ReportIntake.class);

    private final NodeStore nodes;
    private final RepairStore rows;
    private final SnapshotRows snapshots;
    private final SessionWorkflows workflows;
    private final MeterRegistry metrics;

    @Inject
    public ReportIntake(
            NodeStore nodes,
            RepairStore rows,
            SnapshotRows snapshots,
            SessionWorkflows workflows,
            MeterRegistry metrics) {
        this.nodes = nodes;
        this.rows = rows;
        this.snapshots = snapshots;
        this.workflows = workflows;
        this.metrics = metrics;
    }

    /** Answers the sequence up to which everything was taken in. */
    long take(ReportBatch batch) {
        String node = batch.getNodeId();
        long seen = nodes.reportSequence(node).orElse(0L);
        List<Report> fresh =
                batch.getReportsList().stream()
                        .filter(report -> report.getSequence() > seen)
                        .sorted(Comparator.comparingLong(Report::getSequence))
                        .limit(BATCH_MAX)
                        .toList();
        if (fresh.isEmpty()) {
            return seen;
        }
        List<NodeStore.Audit> audits = new ArrayList<>();
        LongStream.Builder sequences = LongStream.builder();
        for (Report report : fresh) {
            if (!Ids.isValid(SessionId.PREFIX, report.getSessionId())) {
                drop("malformed");
                continue;
            }
            switch (report.getBodyCase()) {
                case VM_EXITED -> exited(report, node, audits, sequences);
                case ACTIVITY ->
                        nodes.activity(
                                report.getSessionId(),
                                report.getEpoch(),
                                Duration.ofMillis(
                                        report.getAtMillis()
                                                - report.getActivity().getLastActiveMillis()));
                case AUDIT -> {
                    audits.add(audit(report));
                    sequences.add(report.getSequence());
                }
                case SNAPSHOT_TAKEN -> snapshotTaken(report, node);
                case SNAPSHOTS_REMOVED -> snapshotsRemoved(report, node, audits, sequences);
                case SANDBOX_HELD -> held(report, node, audits, sequences);
                case BODY_NOT_SET -> drop("empty");
            }
        }
        return nodes.takeReports(node, audits, sequences.build(), fresh.getLast().getSequence());
    }

    private void exited(
            Report report,
            String node,
            List<NodeStore.Audit> audits,
            LongStream.Builder sequences) {
        SessionId session = new SessionId(report.getSessionId());
        VmExited exit = report.getVmExited();
        SessionRow row = rows.session(session).orElse(null);
        if (row == null || report.getEpoch() < row.epoch()) {
            drop("old-epoch");
            return;
        }
        LOG.infof("VM of session %s ended on %s: %s", session, node, exit.getReason());
        workflows.vmExited(
                session,
                new VmExit(
                        new Fence(report.getEpoch(), report.getNumber(), report.getAttempt()),
                        reason(exit.getReason()),
                        cut(exit.getDetail())));
        audits.add(
                new NodeStore.Audit(
                        session.value(),
                        report.getEpoch(),
                        "node",
                        "vm_exited",
                        "",
                        exit.getReason(),
                        Instant.ofEpochMilli(report.getAtMillis())));
        sequences.add(report.getSequence());
    }

    private void held(
            Report report,
            String node,
            List<NodeStore.Audit> audits,
            LongStream.Builder sequences) {
        SessionId session = new SessionId(report.getSessionId());
        long freeMib = report.getSandboxHeld().getFreeBytes() >> 20;
        LOG.warnf("%s holds session %s: %d MiB of its disk are free", node, session, freeMib);
        workflows.signal(session, "nodeFull", new NodeFullReport(report.getEpoch()));
        audits.add(
                new NodeStore.Audit(
                        session.value(),
                        report.getEpoch(),
                        "node",
                        "hold",
                        "",
                        "NODE_DISK_FULL",
                        freeMib + " MiB of the node's disk are free",
                        Instant.ofEpochMilli(report.getAtMillis())));
        sequences.add(report.getSequence());
    }

    private void snapshotTaken(Report report, String node) {
        Optional<NodeSnapshot> snapshot = NodeSnapshot.of(report.getSnapshotTaken(), node);
        if (snapshot.isEmpty()) {
            drop("malformed");
            return;
        }
        SessionId session = new SessionId(report.getSessionId());
        if (!snapshots.taken(session, snapshot.get().row(), snapshot.get().quiesced())) {
            drop("other-node");
        }
    }

    /** What age thins out is routine; that room was short, or a quota full, is worth an event. */
    private void snapshotsRemoved(
            Report report,
            String node,
            List<NodeStore.Audit> audits,
            LongStream.Builder sequences) {
        SnapshotsRemoved removed = report.getSnapshotsRemoved();
        List<SnapshotId> ids =
                removed.getSnapshotIdsList().stream()
                        .filter(id -> Ids.isValid(SnapshotId.PREFIX, id))
                        .map(SnapshotId::new)
                        .toList();
        snapshots.gone(new SessionId(report.getSessionId()), node, ids);
        if (!removed.getWhy().equals("THINNED")) {
            audits.add(
                    new NodeStore.Audit(
                            report.getSessionId(),
                            report.getEpoch(),
                            "node",
                            "remove_snapshots",
                            ids.size() + " oldest",
                            cut(removed.getWhy()),
                            Instant.ofEpochMilli(report.getAtMillis())));
            sequences.add(report.getSequence());
        }
    }

    private static ReasonCode reason(String reason) {
        return switch (reason) {
            case "SHUTDOWN" -> ReasonCode.GUEST_SHUTDOWN;
            case "PANIC" -> ReasonCode.GUEST_CRASH;
            case "OUT_OF_MEMORY" -> ReasonCode.OUT_OF_MEMORY;
            default -> ReasonCode.VM_KILLED;
        };
    }

    private static NodeStore.Audit audit(Report report) {
        AuditRecord audit = report.getAudit();
        return new NodeStore.Audit(
                report.getSessionId(),
                report.getEpoch(),
                cut(audit.getActor()),
                cut(audit.getAction()),
                cut(audit.getObject()),
                cut(audit.getOutcome()),
                cut(audit.getDetail()),
                Instant.ofEpochMilli(report.getAtMillis()));
    }

    /** PostgreSQL takes no NUL in text; what comes from a node may hold anything. */
    private static String cut(String text) {
        String clean = text.replace('\0', '?');
        return clean.length() <= TEXT_CHARS_MAX ? clean : clean.substring(0, TEXT_CHARS_MAX);
    }

    private void drop(String why) {
        metrics.counter("space_reports_dropped", "why", why).increment();
    }
}
