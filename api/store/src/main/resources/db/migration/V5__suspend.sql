-- SUSPEND copies a snapshot to the object store; RESTORE starts from it on any node.

-- A session and its forks share one key for what they store. It is sealed as the environments are,
-- and made when something of the lineage is stored for the first time.
CREATE TABLE lineages (
    id            text PRIMARY KEY,
    key_encrypted bytea NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE sessions ADD COLUMN lineage_id text;
WITH RECURSIVE lineage AS (
    SELECT id, id AS root FROM sessions WHERE origin_session_id IS NULL
    UNION ALL
    SELECT s.id, l.root FROM sessions s JOIN lineage l ON s.origin_session_id = l.id
)
UPDATE sessions s SET lineage_id = l.root FROM lineage l WHERE l.id = s.id;
ALTER TABLE sessions
    ALTER COLUMN lineage_id SET NOT NULL,
    -- The newest snapshot of the present that the object store has whole, and from when it is:
    -- what a lost node would leave.
    ADD COLUMN durable_snapshot_id text,
    ADD COLUMN durable_taken_at timestamptz,
    DROP CONSTRAINT sessions_deadline_known,
    ADD CONSTRAINT sessions_deadline_known
        CHECK (deadline_action IN ('PAUSE','SUSPEND','DESTROY'));
ALTER TABLE fork_children
    DROP CONSTRAINT fork_children_deadline_known,
    ADD CONSTRAINT fork_children_deadline_known
        CHECK (deadline_action IN ('PAUSE','SUSPEND','DESTROY'));

-- Written before a byte is sent, so that nothing in the object store is unknown. COMPLETE alone may
-- be restored; GARBAGE is what the object store may forget (rule 17: by its own number only).
CREATE TABLE durable_snapshots (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    snapshot_id     text NOT NULL REFERENCES snapshots (id),
    session_id      text NOT NULL REFERENCES sessions (id),
    operation_id    text NOT NULL REFERENCES operations (id),
    lineage_id      text NOT NULL,
    state           text NOT NULL DEFAULT 'PENDING' CONSTRAINT durable_snapshots_state_known
        CHECK (state IN ('PENDING','COMPLETE','GARBAGE')),
    -- What it was built on: the object store keeps that at least as long as this is PENDING.
    previous_id     bigint REFERENCES durable_snapshots (id),
    manifest_key    text,
    manifest_digest text,
    bytes_stored    bigint,
    bytes_uploaded  bigint,
    bytes_logical   bigint,
    created_at      timestamptz NOT NULL DEFAULT now(),
    completed_at    timestamptz,
    UNIQUE (snapshot_id, operation_id),
    CONSTRAINT durable_snapshots_complete_is_whole CHECK (state <> 'COMPLETE'
        OR (manifest_key IS NOT NULL AND manifest_digest IS NOT NULL AND bytes_stored IS NOT NULL
            AND bytes_uploaded IS NOT NULL AND bytes_logical IS NOT NULL
            AND completed_at IS NOT NULL))
);
CREATE UNIQUE INDEX durable_snapshots_once ON durable_snapshots (snapshot_id)
    WHERE state = 'COMPLETE';
CREATE INDEX durable_snapshots_by_lineage ON durable_snapshots (lineage_id, completed_at DESC)
    WHERE state = 'COMPLETE';
CREATE INDEX durable_snapshots_by_session ON durable_snapshots (session_id);
CREATE INDEX durable_snapshots_pending ON durable_snapshots (operation_id)
    WHERE state = 'PENDING';

-- Whoever ends the operation without its commit: what was sent is garbage.
CREATE FUNCTION forget_upload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE durable_snapshots SET state = 'GARBAGE'
        WHERE operation_id = NEW.id AND state = 'PENDING';
    RETURN NULL;
END $$;
CREATE TRIGGER suspend_ended AFTER UPDATE OF state ON operations FOR EACH ROW
    WHEN (NEW.kind = 'SUSPEND' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION forget_upload();

-- Whoever deletes the snapshot: nobody restores it any more.
CREATE FUNCTION forget_durable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE durable_snapshots SET state = 'GARBAGE'
        WHERE snapshot_id = NEW.id AND state <> 'GARBAGE';
    RETURN NULL;
END $$;
CREATE TRIGGER snapshot_deleted AFTER UPDATE OF state ON snapshots FOR EACH ROW
    WHEN (OLD.state <> 'DELETED' AND NEW.state = 'DELETED')
    EXECUTE FUNCTION forget_durable();

-- A node that was left, not the session destroyed: what it lists stays (rule 16).
ALTER TABLE cleanup_owed ADD COLUMN keeps_snapshots boolean NOT NULL DEFAULT false;
