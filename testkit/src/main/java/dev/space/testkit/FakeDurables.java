package dev.space.testkit;

import dev.space.contract.control.BeginUpload;
import dev.space.contract.control.CommitOperation;
import dev.space.contract.control.UploadBegun;
import dev.space.contract.session.DurableRef;
import dev.space.contract.session.SnapshotRef;
import dev.space.model.OperationId;
import dev.space.model.OperationKind;
import dev.space.model.SessionId;
import dev.space.testkit.FakeStore.Session;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rows of what the object store has, as the product's store keeps them. */
public final class FakeDurables {

    /** What a row says of its upload. */
    public enum State {
        PENDING,
        COMPLETE,
        GARBAGE
    }

    /** One upload of one operation. */
    public static final class Row {
        public final long id;
        public final OperationId operation;
        public final SnapshotRef snapshot;
        public State state = State.PENDING;
        public @Nullable DurableRef stored;

        Row(long id, OperationId operation, SnapshotRef snapshot) {
            this.id = id;
            this.operation = operation;
            this.snapshot = snapshot;
        }
    }

    private FakeDurables() {}

    static UploadBegun begin(Session row, BeginUpload r, long next) {
        FakeRecords.list(row, r.snapshot());
        Row known =
                row.durables.stream()
                        .filter(d -> d.operation.equals(r.operation()))
                        .findFirst()
                        .orElse(null);
        if (known == null) {
            known = new Row(next, r.operation(), r.snapshot());
            row.durables.add(known);
        }
        DurableRef complete =
                row.durables.stream()
                        .filter(d -> d.state == State.COMPLETE)
                        .filter(d -> d.snapshot.id().equals(r.snapshot().id()))
                        .map(d -> Objects.requireNonNull(d.stored))
                        .findFirst()
                        .orElse(null);
        return new UploadBegun(true, null, known.id, lineage(row).value(), newest(row), complete);
    }

    private static SessionId lineage(Session row) {
        return row.origin == null ? row.id : lineage(row.origin);
    }

    /** Of the present: what a rollback left is no way back. */
    static @Nullable DurableRef newest(Session row) {
        SnapshotRef base = row.base;
        Optional<DurableRef> newest =
                row.durables.stream()
                        .filter(d -> d.state == State.COMPLETE)
                        .map(d -> Objects.requireNonNull(d.stored))
                        .filter(d ->
                                d.snapshot().epoch() >= row.baseEpoch
                                        || (base != null && base.id().equals(d.snapshot().id())))
                        .max(
                                Comparator.<DurableRef>comparingLong(d -> d.snapshot().epoch())
                                        .thenComparingLong(d -> d.snapshot().stop()));
        return newest.orElse(null);
    }

    /** With the commit: complete from now on, or where the present goes on from. */
    static void committed(Session row, OperationKind kind, CommitOperation r) {
        DurableRef durable = r.durable();
        if (durable == null) {
            return;
        }
        if (kind == OperationKind.RECOVER) {
            row.base = r.snapshots().getLast();
            row.baseEpoch = r.fence().epoch();
        }
        for (Row d : row.durables) {
            if ((kind == OperationKind.SUSPEND || kind == OperationKind.CHECKPOINT)
                    && d.operation.equals(r.operation())
                    && !isStored(row, durable)) {
                d.state = State.COMPLETE;
                d.stored = durable;
            }
        }
    }

    private static boolean isStored(Session row, DurableRef durable) {
        return row.durables.stream().anyMatch(d -> durable.equals(d.stored));
    }

    /** An operation that ended otherwise leaves garbage. */
    static void ended(Session row, OperationId operation) {
        for (Row d : row.durables) {
            if (d.operation.equals(operation) && d.state == State.PENDING) {
                d.state = State.GARBAGE;
            }
        }
    }

    static void destroyed(Session row) {
        row.durables.forEach(d -> d.state = State.GARBAGE);
    }
}
