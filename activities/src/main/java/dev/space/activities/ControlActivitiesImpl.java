package dev.space.activities;

import dev.space.contract.control.AcceptAnswer;
import dev.space.contract.control.AcceptOperation;
import dev.space.contract.control.BeginUpload;
import dev.space.contract.control.CommitAnswer;
import dev.space.contract.control.CommitOperation;
import dev.space.contract.control.ControlActivities;
import dev.space.contract.control.EndOperations;
import dev.space.contract.control.MoveAnswer;
import dev.space.contract.control.MoveOperation;
import dev.space.contract.control.RecordSnapshots;
import dev.space.contract.control.UploadBegun;
import dev.space.contract.session.DeadlinePolicy;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.PolicyAction;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.store.AcceptStore;
import dev.space.store.CommitStore;
import dev.space.store.DurableRows;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The session's rows for its workflow: translates payloads to the store's fenced writes. */
@Singleton
public class ControlActivitiesImpl implements ControlActivities {
    private final AcceptStore accepts;
    private final CommitStore commits;
    private final SessionLoader loader;
    private final DurableRows durables;
    private final Clock clock;
    private final MeterRegistry metrics;
    private final CreatePhases phases;

    @Inject
    public ControlActivitiesImpl(
            AcceptStore accepts,
            CommitStore commits,
            SessionLoader loader,
            DurableRows durables,
            Clock clock,
            MeterRegistry metrics,
            CreatePhases phases) {
        this.accepts = accepts;
        this.commits = commits;
        this.loader = loader;
        this.durables = durables;
        this.clock = clock;
        this.metrics = metrics;
        this.phases = phases;
    }

    @Override
    public AcceptAnswer acceptOperation(AcceptOperation request) {
        return Failures.translated(() -> {
            long began = System.nanoTime();
            AcceptStore.Answer answer =
                    accepts.accept(
                            new AcceptStore.Request(
                                    request.session(),
                                    request.operation(),
                                    request.kind(),
                                    request.automatic(),
                                    request.onlyIfDeadlinePassed(),
                                    request.supersedes(),
                                    request.place(),
                                    request.reason().code(),
                                    request.reason().text(),
                                    clock.instant()));
            if (request.kind() == OperationKind.CREATE) {
                phases.ended("accept", began);
            }
            return new AcceptAnswer(
                    answer.accepted(),
                    answer.number(),
                    answer.epoch(),
                    answer.node(),
                    answer.error(),
                    answer.detail(),
                    answer.tombstone(),
                    deadline(answer.deadlineAt(), answer.deadlineAction()),
                    answer.target() == null ? null : SessionLoader.ref(answer.target()),
                    answer.acceptLoss(),
                    answer.origin(),
                    answer.stored() == null ? null : SessionLoader.ref(answer.stored()),
                    answer.durable());
        });
    }

    static @Nullable DeadlinePolicy deadline(@Nullable Instant at, @Nullable String action) {
        return at == null || action == null
                ? null
                : new DeadlinePolicy(at.toEpochMilli(), PolicyAction.valueOf(action));
    }

    @Override
    public MoveAnswer moveOperation(MoveOperation request) {
        return Failures.translated(() -> {
            AcceptStore.Moved moved =
                    accepts.move(
                            new AcceptStore.Move(
                                    request.session(),
                                    request.operation(),
                                    request.fence(),
                                    request.from(),
                                    request.acknowledged()));
            return new MoveAnswer(moved.moved(), moved.epoch(), moved.node(), moved.error());
        });
    }

    @Override
    public CommitAnswer recordSnapshots(RecordSnapshots request) {
        return Failures.translated(() ->
                answer(
                        commits.recordSnapshots(
                                request.session(),
                                request.operation(),
                                request.fence(),
                                snapshots(request.snapshots()),
                                request.pinnedForMillis())));
    }

    @Override
    public UploadBegun beginUpload(BeginUpload request) {
        return Failures.translated(() -> {
            DurableRows.Begun begun =
                    durables.begin(
                            request.session(),
                            request.operation(),
                            request.fence(),
                            snapshot(request.snapshot()));
            return new UploadBegun(
                    begun.written(),
                    begun.tombstone(),
                    begun.number(),
                    begun.lineage(),
                    begun.previous() == null ? null : SessionLoader.ref(begun.previous()),
                    begun.complete() == null ? null : SessionLoader.ref(begun.complete()));
        });
    }

    @Override
    public CommitAnswer commit(CommitOperation request) {
        return Failures.translated(() -> {
            long began = System.nanoTime();
            CommitStore.Written written =
                    commits.commit(
                            new CommitStore.Commit(
                                    request.session(),
                                    request.operation(),
                                    request.fence(),
                                    request.outcome(),
                                    request.error(),
                                    request.detail(),
                                    request.state(),
                                    request.node(),
                                    request.vm(),
                                    snapshots(request.snapshots()),
                                    stored(request.durable()),
                                    request.snapshotName(),
                                    request.joined(),
                                    request.owed(),
                                    request.reason().code(),
                                    request.reason().text()));
            count(written, request, began);
            return answer(written);
        });
    }

    /** Here, because only here every operation passes, the platform's own ones included. */
    private void count(CommitStore.Written written, CommitOperation request, long began) {
        if (written.ended() != null) {
            metrics.counter(
                            "space_operations",
                            "kind",
                            written.ended().name(),
                            "outcome",
                            request.outcome().name(),
                            "code",
                            request.error() == null ? "OK" : request.error().name())
                    .increment();
            measure(written.ended(), request.startMicros(), began);
        }
    }

    /** At the commit, because every way to a start leads here. */
    private void measure(OperationKind ended, @Nullable Map<String, Long> micros, long began) {
        if (micros != null) {
            micros.forEach((phase, time) -> phases.record(phase, time, TimeUnit.MICROSECONDS));
        }
        if (ended == OperationKind.CREATE) {
            phases.ended("commit", began);
        }
    }

    @Override
    public void endOperations(EndOperations request) {
        Failures.translated(() -> {
            commits.end(
                    request.session(),
                    request.operations().stream()
                            .map(row ->
                                    new CommitStore.Ended(
                                            row.operation(),
                                            row.outcome(),
                                            row.error(),
                                            row.detail()))
                            .toList());
            return true;
        });
    }

    @Override
    public @Nullable LoadedSession loadSession(SessionId session) {
        return Failures.<@Nullable LoadedSession>translated(() -> loader.load(session));
    }

    private static CommitAnswer answer(CommitStore.Written written) {
        return new CommitAnswer(written.written(), written.tombstone());
    }

    private static List<CommitStore.Snapshot> snapshots(List<SnapshotRef> taken) {
        return taken.stream().map(ControlActivitiesImpl::snapshot).toList();
    }

    private static CommitStore.Snapshot snapshot(SnapshotRef ref) {
        return new CommitStore.Snapshot(
                ref.id(),
                ref.kind(),
                ref.node(),
                ref.epoch(),
                ref.stop(),
                ref.bytes(),
                Instant.ofEpochMilli(ref.takenAtMillis()));
    }

    private static DurableRows.@Nullable Stored stored(@Nullable DurableRef ref) {
        return ref == null
                ? null
                : new DurableRows.Stored(
                        snapshot(ref.snapshot()),
                        ref.lineage(),
                        ref.manifestKey(),
                        ref.manifestDigest(),
                        ref.bytesStored(),
                        ref.bytesUploaded(),
                        ref.bytesLogical());
    }
}
