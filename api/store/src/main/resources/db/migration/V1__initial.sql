-- The control plane's durable facts. Rules named here are those of docs/lifecycle.md.
-- The CHECKs that list states and kinds are compared with the model's enums by SchemaTest.

CREATE TABLE organisations (
    id         text PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE projects (
    id              text PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisations (id),
    name            text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organisation_id, name)
);

-- A key is 160 random bits, so that one SHA-256 is enough: there is nothing to guess that a slow
-- hash would protect, and every request pays for it.
CREATE TABLE api_keys (
    id         text PRIMARY KEY,
    project_id text NOT NULL REFERENCES projects (id),
    name       text NOT NULL,
    hash       bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE TABLE nodes (
    id                text PRIMARY KEY CHECK (id ~ '^[a-z0-9-]{1,40}$'),
    api_address       text NOT NULL,
    engine            text NOT NULL,
    engines           jsonb NOT NULL DEFAULT '[]',
    version           text NOT NULL,
    memory_bytes      bigint NOT NULL,
    memory_free_bytes bigint NOT NULL,
    disk_bytes        bigint NOT NULL,
    disk_free_bytes   bigint NOT NULL,
    slots             integer NOT NULL,
    slots_free        integer NOT NULL,
    lease_until       timestamptz NOT NULL,
    -- Reports up to this sequence were taken in; a repeated one is acknowledged and dropped.
    report_sequence   bigint NOT NULL DEFAULT 0,
    registered_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE templates (
    digest      text PRIMARY KEY,
    name        text NOT NULL,
    reported_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX templates_by_name ON templates (name, reported_at DESC);

CREATE TABLE node_templates (
    node_id     text NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
    digest      text NOT NULL REFERENCES templates (digest),
    sizes_ready text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (node_id, digest)
);

CREATE TABLE sessions (
    id               text PRIMARY KEY,
    organisation_id  text NOT NULL REFERENCES organisations (id),
    project_id       text NOT NULL REFERENCES projects (id),
    state            text NOT NULL CONSTRAINT sessions_state_known CHECK (state IN
        ('NEW','WARM','RUNNING','PAUSED','SUSPENDED','FAILED','DESTROYED')),
    desired          text NOT NULL CONSTRAINT sessions_desired_known CHECK (desired IN
        ('NEW','WARM','RUNNING','PAUSED','SUSPENDED','FAILED','DESTROYED')),
    durability       text NOT NULL DEFAULT 'NONE' CONSTRAINT sessions_durability_known
        CHECK (durability IN ('NONE','LOCAL','DURABLE')),
    engine           text,
    template_name    text NOT NULL,
    template_digest  text NOT NULL,
    size             text NOT NULL CONSTRAINT sessions_size_known CHECK (size IN
        ('xs','small','medium','large')),
    labels           jsonb NOT NULL DEFAULT '{}',
    -- AES-GCM under the platform's env key; in no payload and in no log.
    env_encrypted    bytea,
    auto_resume      boolean NOT NULL DEFAULT false,
    deadline_at      timestamptz,
    deadline_action  text CONSTRAINT sessions_deadline_known
        CHECK (deadline_action IN ('PAUSE','DESTROY')),
    -- Fence of the sandbox (rule 4): the operation and node that took the epoch keep it on retry.
    epoch            bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    epoch_operation  text,
    epoch_node       text,
    -- Fence of the row (rules 1 and 3): number of the last accepted operation, highest attempt seen.
    last_number      bigint NOT NULL DEFAULT 0 CHECK (last_number >= 0),
    fence_attempt    bigint NOT NULL DEFAULT 0 CHECK (fence_attempt >= 0),
    operation_id     text,
    node_id          text,
    -- Every node that a start was sent to (rule 6); DESTROY fences all of them.
    nodes_touched    text[] NOT NULL DEFAULT '{}',
    -- The start that made the VM that runs now (rule 5).
    vm_number        bigint NOT NULL DEFAULT 0,
    vm_attempt       bigint NOT NULL DEFAULT 0,
    vm_epoch         bigint NOT NULL DEFAULT 0,
    snapshot_id      text,
    -- Disk of the last dead VM, where it could be reached.
    preserved_id     text,
    reason           text NOT NULL DEFAULT '',
    reason_code      text NOT NULL DEFAULT 'USER',
    reason_at        timestamptz NOT NULL DEFAULT now(),
    tombstone_at     timestamptz,
    tombstone_operation text,
    last_active_at   timestamptz,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT sessions_destroyed_is_tombstoned
        CHECK (state <> 'DESTROYED' OR tombstone_at IS NOT NULL),
    CONSTRAINT sessions_tombstone_whole
        CHECK ((tombstone_at IS NULL) = (tombstone_operation IS NULL)),
    CONSTRAINT sessions_deadline_whole
        CHECK ((deadline_at IS NULL) = (deadline_action IS NULL))
);
CREATE INDEX sessions_by_project ON sessions (project_id, created_at DESC, id DESC);
CREATE INDEX sessions_by_labels ON sessions USING gin (labels jsonb_path_ops);
CREATE INDEX sessions_alive ON sessions (updated_at) WHERE state <> 'DESTROYED';
CREATE INDEX sessions_by_node ON sessions (node_id) WHERE state <> 'DESTROYED';

CREATE TABLE operations (
    id           text PRIMARY KEY,
    session_id   text NOT NULL REFERENCES sessions (id),
    kind         text NOT NULL CONSTRAINT operations_kind_known CHECK (kind IN
        ('PREPARE','CREATE','BIND','PAUSE','RESUME','CHECKPOINT','FORK','ROLLBACK','SUSPEND',
         'RESTORE','RECOVER','DESTROY')),
    state        text NOT NULL CONSTRAINT operations_state_known CHECK (state IN
        ('REQUESTED','ACCEPTED','DONE','FAILED','REFUSED','CANCELLED','SUPERSEDED')),
    actor        text NOT NULL,
    -- Name given to the snapshot of a CHECKPOINT, if any.
    argument     text,
    number       bigint,
    epoch        bigint,
    -- The operation whose outcome this one shares, when it joined.
    joined       text,
    error_code   text,
    error_detail text,
    requested_at timestamptz NOT NULL DEFAULT now(),
    accepted_at  timestamptz,
    ended_at     timestamptz,
    -- When the reconciler sent it last.
    sent_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (session_id, number),
    CONSTRAINT operations_accepted_has_number CHECK (state <> 'ACCEPTED' OR number IS NOT NULL),
    CONSTRAINT operations_end_has_time CHECK
        ((state IN ('REQUESTED','ACCEPTED')) = (ended_at IS NULL))
);
CREATE INDEX operations_by_session ON operations (session_id, requested_at DESC);
CREATE INDEX operations_requested ON operations (sent_at) WHERE state = 'REQUESTED';
CREATE INDEX operations_accepted ON operations (session_id) WHERE state = 'ACCEPTED';

-- Waiters of any instance hear of every end.
CREATE FUNCTION notify_operation_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('operation_ended', NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER operation_ended AFTER UPDATE OF state ON operations FOR EACH ROW
    WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    EXECUTE FUNCTION notify_operation_ended();

CREATE TABLE idempotency_keys (
    project_id    text NOT NULL REFERENCES projects (id),
    key           text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_hash  bytea NOT NULL CHECK (length(request_hash) = 32),
    operation_id  text NOT NULL REFERENCES operations (id),
    session_id    text NOT NULL REFERENCES sessions (id),
    answer_status integer,
    answer_body   bytea,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project_id, key)
);
CREATE INDEX idempotency_keys_by_operation ON idempotency_keys (operation_id);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE snapshots (
    id           text PRIMARY KEY,
    session_id   text NOT NULL REFERENCES sessions (id),
    operation_id text NOT NULL REFERENCES operations (id),
    kind         text NOT NULL CONSTRAINT snapshots_kind_known CHECK (kind IN ('FULL','DISK')),
    state        text NOT NULL CONSTRAINT snapshots_state_known CHECK (state IN
        ('LISTED','DELETED')),
    durability   text NOT NULL DEFAULT 'LOCAL' CONSTRAINT snapshots_durability_known
        CHECK (durability IN ('LOCAL','DURABLE')),
    node_id      text,
    -- "Newest" means by (epoch, stop), not by operation number (rule 17).
    epoch        bigint NOT NULL,
    stop         bigint NOT NULL,
    bytes        bigint NOT NULL,
    name         text,
    pinned_until timestamptz,
    taken_at     timestamptz NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX snapshots_by_session ON snapshots (session_id, epoch DESC, stop DESC)
    WHERE state = 'LISTED';

CREATE TABLE events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id text,
    session_id text,
    actor      text NOT NULL,
    action     text NOT NULL,
    object     text NOT NULL DEFAULT '',
    outcome    text NOT NULL,
    reason     text NOT NULL DEFAULT '',
    epoch      bigint,
    node_id    text,
    at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX events_by_session ON events (session_id, id);

-- Who did what is history: nobody changes it, the application included.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only';
END $$;
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE cleanup_owed (
    session_id text NOT NULL REFERENCES sessions (id),
    node_id    text NOT NULL,
    operation_id text NOT NULL,
    epoch      bigint NOT NULL,
    number     bigint NOT NULL,
    attempt    bigint NOT NULL DEFAULT 0,
    why        text NOT NULL,
    tries      integer NOT NULL DEFAULT 0,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session_id, node_id)
);
CREATE INDEX cleanup_owed_due ON cleanup_owed (next_try_at);
