-- FORK makes sessions that continue from a snapshot of its own session.
ALTER TABLE sessions
    ADD COLUMN origin_session_id text REFERENCES sessions (id),
    ADD COLUMN fork_operation text REFERENCES operations (id),
    ADD COLUMN fork_position integer,
    ADD CONSTRAINT sessions_fork_whole CHECK
        ((origin_session_id IS NULL) = (fork_operation IS NULL)
            AND (fork_operation IS NULL) = (fork_position IS NULL));
CREATE UNIQUE INDEX sessions_by_fork ON sessions (fork_operation, fork_position)
    WHERE fork_operation IS NOT NULL;

-- What a FORK is going to make, from its request to its end.
CREATE TABLE fork_children (
    operation_id     text NOT NULL REFERENCES operations (id),
    position         integer NOT NULL,
    session_id       text NOT NULL UNIQUE,
    create_operation text NOT NULL UNIQUE,
    labels           jsonb NOT NULL,
    -- AES-GCM under the platform's env key, for the child's id; in no payload and in no log.
    env_encrypted    bytea,
    deadline_at      timestamptz,
    deadline_action  text CONSTRAINT fork_children_deadline_known
        CHECK (deadline_action IN ('PAUSE','DESTROY')),
    PRIMARY KEY (operation_id, position),
    CONSTRAINT fork_children_deadline_whole
        CHECK ((deadline_at IS NULL) = (deadline_action IS NULL))
);

-- Whoever ends the FORK: no plan stays behind, and above all no environment.
CREATE FUNCTION forget_fork_children() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM fork_children WHERE operation_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER fork_ended AFTER UPDATE OF state ON operations FOR EACH ROW
    WHEN (NEW.kind = 'FORK' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION forget_fork_children();

-- A snapshot that an open operation names must not be removed under it.
CREATE INDEX operations_by_snapshot ON operations (snapshot_id)
    WHERE snapshot_id IS NOT NULL AND ended_at IS NULL;
