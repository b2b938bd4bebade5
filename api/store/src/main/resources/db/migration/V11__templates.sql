-- Templates in the object store, from where a node without one fetches it. They are the
-- installation's: one lineage of their own, one key, nothing of a tenant's.
--
-- Written before a byte is sent, as in durable_snapshots. COMPLETE alone is ever fetched; GARBAGE
-- is what the object store may forget.
CREATE TABLE stored_templates (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest          text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
    name            text NOT NULL CHECK (length(name) <= 40),
    -- Who sends it. Not a foreign key: a node's row may go.
    node_id         text NOT NULL,
    state           text NOT NULL DEFAULT 'PENDING' CONSTRAINT stored_templates_state_known
        CHECK (state IN ('PENDING','COMPLETE','GARBAGE')),
    -- What it was built on: the object store keeps that at least as long as this is PENDING.
    previous_id     bigint REFERENCES stored_templates (id),
    manifest_key    text,
    manifest_digest text,
    bytes_stored    bigint,
    bytes_uploaded  bigint,
    bytes_logical   bigint,
    created_at      timestamptz NOT NULL DEFAULT now(),
    completed_at    timestamptz,
    CONSTRAINT stored_templates_complete_is_whole CHECK (state <> 'COMPLETE'
        OR (manifest_key IS NOT NULL AND manifest_digest IS NOT NULL AND bytes_stored IS NOT NULL
            AND bytes_uploaded IS NOT NULL AND bytes_logical IS NOT NULL
            AND completed_at IS NOT NULL))
);
CREATE UNIQUE INDEX stored_templates_once ON stored_templates (digest)
    WHERE state IN ('PENDING','COMPLETE');
CREATE INDEX stored_templates_by_name ON stored_templates (name, completed_at DESC)
    WHERE state = 'COMPLETE';
