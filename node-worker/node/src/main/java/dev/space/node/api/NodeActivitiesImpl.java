package dev.space.node.api;

import dev.space.contract.node.DeleteSnapshot;
import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.EndSandbox;
import dev.space.contract.node.NodeActivities;
import dev.space.contract.node.PreserveDisk;
import dev.space.contract.node.ReleaseSession;
import dev.space.contract.node.SandboxStarted;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.StartSandbox;
import dev.space.contract.node.TakeSnapshot;
import dev.space.contract.node.UploadSnapshot;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.Pause;
import dev.space.node.reports.Lease;
import dev.space.node.sandbox.SandboxManager;
import dev.space.node.sandbox.TransferProgress;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lifecycle steps as Temporal activities. */
public final class NodeActivitiesImpl implements NodeActivities {

    private static final Logger LOG = LoggerFactory.getLogger(NodeActivitiesImpl.class);

    /** A control plane that is started again renews the lease by then. */
    private static final Duration LEASE_WAIT = Duration.ofSeconds(30);

    private final SandboxManager manager;
    private final Lease lease;

    public NodeActivitiesImpl(SandboxManager manager, Lease lease) {
        this.manager = manager;
        this.lease = lease;
    }

    /** Runs a step with a heartbeat from its beginning, and gives failures their wire form. */
    private static <T extends @Nullable Object> T step(Supplier<T> body) {
        return step(_ -> body.get());
    }

    /** As above, telling with each heartbeat how far it is. */
    private static <T extends @Nullable Object> T step(Function<TransferProgress, T> body) {
        ActivityExecutionContext context = Activity.getExecutionContext();
        AtomicReference<@Nullable String> progress = new AtomicReference<>();
        Thread heart = Thread.ofVirtual().name("heartbeat").start(() -> beat(context, progress));
        try {
            return body.apply((done, total) ->
                    progress.set("%d of %d KiB".formatted(done >> 10, total >> 10)));
        } catch (RuntimeException e) {
            SpaceException known = Failures.known(e);
            throw failure(known.code(), String.valueOf(known.getMessage()), e);
        } finally {
            heart.interrupt();
        }
    }

    private static void beat(
            ActivityExecutionContext context, AtomicReference<@Nullable String> progress) {
        try {
            while (true) {
                context.heartbeat(progress.get());
                Pause.of(Duration.ofMillis(HEARTBEAT_MILLIS));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            // The step goes on: its effect is fenced, and a later attempt finds it.
            LOG.debug("nobody waits for this step any more", e);
        }
    }

    private static ApplicationFailure failure(ErrorCode code, String detail, Throwable cause) {
        LOG.warn("step failed with {}: {}", code, detail);
        LOG.debug("cause of the failed step", cause);
        return code.isRetryable()
                ? ApplicationFailure.newFailure(detail, code.name())
                : ApplicationFailure.newNonRetryableFailure(detail, code.name());
    }

    @Override
    public SandboxStarted startSandbox(StartSandbox request) {
        return step(() -> {
            lease.demand(LEASE_WAIT);
            return manager.start(request);
        });
    }

    @Override
    public SnapshotTaken pauseSandbox(TakeSnapshot request) {
        return step(() -> manager.pause(request));
    }

    @Override
    public SnapshotTaken checkpointSandbox(TakeSnapshot request) {
        return step(() -> manager.checkpoint(request));
    }

    @Override
    public @Nullable SnapshotTaken preserveDisk(PreserveDisk request) {
        return NodeActivitiesImpl.<@Nullable SnapshotTaken>step(
                () -> manager.preserveDisk(request));
    }

    @Override
    public void endSandbox(EndSandbox request) {
        done(() -> manager.end(request));
    }

    @Override
    public void releaseSession(ReleaseSession request) {
        done(() -> manager.release(request));
    }

    @Override
    public void deleteSnapshot(DeleteSnapshot request) {
        done(() -> manager.deleteSnapshot(request));
    }

    @Override
    public SnapshotUploaded uploadSnapshot(UploadSnapshot request) {
        return step(progress -> manager.upload(request, progress));
    }

    @Override
    public SnapshotTaken downloadSnapshot(DownloadSnapshot request) {
        return step(progress -> manager.download(request, progress));
    }

    private static void done(Runnable body) {
        var _ =
                NodeActivitiesImpl.<Boolean>step(() -> {
                    body.run();
                    return true;
                });
    }
}
