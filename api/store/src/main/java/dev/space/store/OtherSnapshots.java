package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.Instead;
import dev.space.model.SnapshotId;
import java.sql.SQLException;

/** What a session can go back to when the snapshot that an operation needed is damaged. */
final class OtherSnapshots {

    private OtherSnapshots() {}

    /**
     * The detail of a failed operation. Where a snapshot is damaged and its node had no good one to
     * name, the newest other one that is stored whole is offered: any node can get it.
     */
    static String offered(Db.Tx tx, CommitStore.Commit commit, OperationRow operation)
            throws SQLException {
        ErrorCode error = commit.error();
        if (error != ErrorCode.SNAPSHOT_CORRUPT
                || Instead.offered(error, commit.detail()).isPresent()) {
            return commit.detail();
        }
        return tx.first(
                        """
                        SELECT p.id FROM snapshots p JOIN sessions s ON s.id = p.session_id
                        WHERE p.session_id = ? AND p.state = 'LISTED'
                            AND p.durability = 'DURABLE'
                            AND p.id IS DISTINCT FROM coalesce(?, s.durable_snapshot_id)
                            AND position(p.id in ?) = 0
                        ORDER BY p.epoch DESC, p.stop DESC LIMIT 1
                        """,
                        row -> new SnapshotId(row.getString(1)),
                        commit.session(),
                        operation.snapshot(),
                        commit.detail())
                .map(other -> commit.detail() + "; " + Instead.stored(other))
                .orElse(commit.detail());
    }
}
