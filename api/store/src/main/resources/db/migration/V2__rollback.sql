-- ROLLBACK goes to a snapshot of its session.
ALTER TABLE operations
    ADD COLUMN snapshot_id text,
    ADD COLUMN accept_loss boolean NOT NULL DEFAULT false;

-- What the last rollback went to, and the epoch it made: older snapshots belong to a past that was
-- left, so that none of them is the newest of the present.
ALTER TABLE sessions
    ADD COLUMN base_snapshot_id text,
    ADD COLUMN base_epoch bigint NOT NULL DEFAULT 0;
