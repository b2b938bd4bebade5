-- How often a running session is stored, and what happens to it when nothing happens in it.
ALTER TABLE sessions
    ADD COLUMN durable_every_seconds bigint CHECK (durable_every_seconds > 0),
    ADD COLUMN idle_seconds bigint CHECK (idle_seconds > 0),
    ADD COLUMN idle_action text CONSTRAINT sessions_idle_known
        CHECK (idle_action IN ('PAUSE','SUSPEND','DESTROY')),
    ADD CONSTRAINT sessions_idle_is_whole CHECK ((idle_seconds IS NULL) = (idle_action IS NULL));
CREATE INDEX sessions_made_durable ON sessions (durable_taken_at)
    WHERE durable_every_seconds IS NOT NULL AND state = 'RUNNING';
CREATE INDEX sessions_watched_for_idleness ON sessions (last_active_at)
    WHERE idle_seconds IS NOT NULL AND state IN ('RUNNING','PAUSED');

-- A CHECKPOINT whose snapshot is stored as well.
ALTER TABLE operations ADD COLUMN durable boolean NOT NULL DEFAULT false;

DROP TRIGGER suspend_ended ON operations;
CREATE TRIGGER upload_ended AFTER UPDATE OF state ON operations FOR EACH ROW
    WHEN (NEW.kind IN ('SUSPEND', 'CHECKPOINT')
        AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION forget_upload();

-- An operator drains the node: what is there goes on, nothing new comes.
ALTER TABLE nodes ADD COLUMN cordoned boolean NOT NULL DEFAULT false;

-- Where the session's sandbox really runs: what its node said last. node_id is where it is assigned.
ALTER TABLE sessions
    ADD COLUMN seen_node text,
    ADD COLUMN seen_epoch bigint,
    ADD COLUMN seen_at timestamptz;
CREATE INDEX sessions_by_seen_node ON sessions (seen_node) WHERE seen_node IS NOT NULL;
