package dev.space.node.reports;

import dev.space.model.SessionId;
import dev.space.node.Pause;
import dev.space.nodeapi.v1.RegisterRequest;
import dev.space.nodeapi.v1.RenewReply;
import dev.space.nodeapi.v1.RenewRequest;
import dev.space.nodeapi.v1.Report;
import dev.space.nodeapi.v1.ReportBatch;
import dev.space.nodeapi.v1.SessionEpoch;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the control plane informed: registers, renews the lease, sends the outbox. The node works
 * on while the control plane is away; everything is sent again until it is acknowledged.
 */
public final class Reporter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Reporter.class);

    private static final int BATCH_MAX = 256;
    private static final Duration BATCH_WAIT = Duration.ofSeconds(1);
    private static final Duration RETRY_FIRST = Duration.ofMillis(200);
    private static final Duration RETRY_MAX = Duration.ofSeconds(10);

    /** A node without a lease starts nothing, so it asks for one often. */
    private static final Duration LEASE_RETRY_MAX = Duration.ofSeconds(2);

    private static final long RENEW_MILLIS_MIN = 500;

    /**
     * What must happen to sessions whose epoch, and version of network, the control plane names.
     */
    @FunctionalInterface
    public interface EpochSink {
        void at(SessionId session, long epoch, long networkVersion);
    }

    private final ControlPlane control;
    private final Outbox outbox;
    private final String nodeId;
    private final Supplier<RegisterRequest> registration;
    private final Supplier<RenewRequest> figures;
    private final EpochSink epochs;
    private final Lease lease;
    private volatile boolean registered;

    /** Its lease was renewed since it registered: figures and epochs are those of now. */
    private volatile boolean known;

    private volatile boolean closed;
    private final Thread leases;
    private final Thread sender;

    public Reporter(
            ControlPlane control,
            Outbox outbox,
            String nodeId,
            Supplier<RegisterRequest> registration,
            Supplier<RenewRequest> figures,
            EpochSink epochs,
            Lease lease) {
        this.control = control;
        this.outbox = outbox;
        this.nodeId = nodeId;
        this.registration = registration;
        this.figures = figures;
        this.epochs = epochs;
        this.lease = lease;
        this.leases = Thread.ofVirtual().name("lease").unstarted(this::renewLoop);
        this.sender = Thread.ofVirtual().name("reports").unstarted(this::sendLoop);
    }

    public void start() {
        leases.start();
        sender.start();
    }

    /** True when the control plane knows this node and its present figures. */
    public boolean isKnown() {
        return known;
    }

    private void renewLoop() {
        Backoff backoff = new Backoff(RETRY_FIRST, LEASE_RETRY_MAX);
        while (!closed) {
            try {
                long asked = lease.now();
                boolean first = !registered;
                long leaseMillis = first ? register() : renew();
                if (registered) {
                    lease.renewed(asked, Duration.ofMillis(leaseMillis));
                    known = !first;
                }
                backoff.reset();
                if (first) {
                    continue; // the free memory, disk and slots of before are still believed
                }
                Pause.of(Duration.ofMillis(Math.max(RENEW_MILLIS_MIN, leaseMillis / 3)));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException e) {
                LOG.warn("the control plane does not answer; trying again: {}", e.toString());
                if (!sleep(backoff)) {
                    return;
                }
            }
        }
    }

    private long register() {
        long leaseMillis = control.register(registration.get()).getLeaseMillis();
        registered = true;
        LOG.info("registered with the control plane as {}", nodeId);
        return leaseMillis;
    }

    private long renew() {
        RenewReply reply = control.renew(figures.get());
        apply(reply);
        return reply.getLeaseMillis();
    }

    /** What must end here ends before anything new may start. */
    private void apply(RenewReply reply) {
        if (reply.getUnknownNode()) {
            registered = false;
            known = false;
            lease.lost();
            return;
        }
        for (SessionEpoch pair : reply.getSessionsList()) {
            try {
                epochs.at(
                        new SessionId(pair.getSessionId()),
                        pair.getEpoch(),
                        pair.getNetworkVersion());
            } catch (RuntimeException e) {
                LOG.warn("epoch {} of {} not applied", pair.getEpoch(), pair.getSessionId(), e);
            }
        }
    }

    private void sendLoop() {
        Backoff backoff = new Backoff(RETRY_FIRST, RETRY_MAX);
        while (!closed) {
            try {
                List<Report> batch = outbox.next(BATCH_MAX, BATCH_WAIT);
                if (batch.isEmpty()) {
                    continue;
                }
                long acknowledged =
                        control.report(
                                        ReportBatch.newBuilder()
                                                .setNodeId(nodeId)
                                                .addAllReports(batch)
                                                .build())
                                .getAcknowledged();
                outbox.acknowledge(acknowledged);
                boolean progress = acknowledged >= batch.getFirst().getSequence();
                if (progress) {
                    backoff.reset();
                } else {
                    backoff.sleep();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException e) {
                LOG.debug("reports are not delivered yet", e);
                if (!sleep(backoff)) {
                    return;
                }
            }
        }
    }

    private static boolean sleep(Backoff backoff) {
        try {
            backoff.sleep();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        closed = true;
        leases.interrupt();
        sender.interrupt();
        control.close();
    }
}
