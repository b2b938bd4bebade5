-- A node makes snapshots by itself too: no operation asked for them.
ALTER TABLE snapshots
    ALTER COLUMN operation_id DROP NOT NULL,
    ADD COLUMN reason text NOT NULL DEFAULT 'CHECKPOINT' CONSTRAINT snapshots_reason_known
        CHECK (reason IN ('ROLLING','CHECKPOINT','PAUSE','SAFETY','CRASH','FORK')),
    -- Null until the node was asked: whether the guest held still for it.
    ADD COLUMN quiesced boolean;

UPDATE snapshots s SET reason = CASE
        WHEN s.kind = 'DISK' THEN 'CRASH'
        WHEN o.kind = 'PAUSE' THEN 'PAUSE'
        WHEN o.kind = 'ROLLBACK' THEN 'SAFETY'
        ELSE 'CHECKPOINT' END
    FROM operations o WHERE o.id = s.operation_id;

CREATE INDEX snapshots_on_node ON snapshots (node_id, session_id);
