package dev.space.contract.control;

import dev.space.contract.session.SessionRecord;
import dev.space.model.OperationId;
import dev.space.model.SessionId;
import io.temporal.activity.ActivityInterface;
import org.jspecify.annotations.Nullable;

/**
 * The session's rows. The workflow runs these as local activities, so each is one short
 * transaction. All are repeatable: the same request gives the same answer and changes nothing the
 * second time. A refusal is part of the answer; an {@code ApplicationFailure} (type: an {@link
 * dev.space.model.ErrorCode} name) means that the database could not be asked, and is tried again.
 */
@ActivityInterface
public interface ControlActivities {

    /**
     * One conditional write: the row REQUESTED → ACCEPTED (or inserted ACCEPTED, when automatic),
     * its number, the desired state, and for a start operation the next epoch. Asking twice gives
     * the same number, epoch and node. Refused when the row has ended, or a tombstone is set and
     * the operation is not DESTROY. A workflow task that is lost runs all its local activities once
     * more, so the workflow that meets an ended row reads the session's row and goes on from there.
     */
    AcceptAnswer acceptOperation(AcceptOperation request);

    /**
     * Gives up a node and takes another under a new epoch, in one statement which also writes the
     * new node down. Unless the old node acknowledged its fence, its lease must be over.
     */
    MoveAnswer moveOperation(MoveOperation request);

    /** Lists snapshots that were published; knows them by id. Fenced as {@link #commit}. */
    CommitAnswer recordSnapshots(RecordSnapshots request);

    /**
     * Writes down an upload as PENDING, once for each operation. Fenced as {@link #commit}. The
     * commit of the operation makes it COMPLETE; with any other end it is garbage.
     */
    UploadBegun beginUpload(BeginUpload request);

    /**
     * Writes the session's observed state and ends the operation with those that joined it, in one
     * transaction. Refused, unwritten, when a higher (number, attempt) was there, the operation is
     * not ACCEPTED, or a tombstone is set and this is not DESTROY. The very same write (number,
     * attempt, outcome) again is written. Writing DESTROYED ends every open row of the session and
     * inserts the cleanup_owed rows.
     */
    CommitAnswer commit(CommitOperation request);

    /** Ends rows that changed nothing: refused, already so, waited in vain. Ended rows stay. */
    void endOperations(EndOperations request);

    /**
     * The record as the rows tell it, for a workflow that starts again; null without a row. A row
     * that is still ACCEPTED is the record's operation in flight: the workflow carries it on.
     */
    @Nullable LoadedSession loadSession(SessionId session);

    /**
     * What a workflow that starts again continues from.
     *
     * @param name name that the operation in flight was asked to give to its snapshot
     */
    record LoadedSession(
            SessionRecord record, @Nullable OperationId tombstone, @Nullable String name) {}
}
