-- Keys of organisations in key services of their own. What wraps and unwraps is there; here is
-- where it is, what logs in there (sealed as environments are), and what became of it.
CREATE TABLE customer_keys (
    id              text PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisations (id),
    -- False: another one, or none, took its place, and what it wraps is being wrapped anew.
    current         boolean NOT NULL DEFAULT true,
    -- Canonical JSON of dev.space.service.key.KeyPlace.
    place           text NOT NULL CHECK (length(place) <= 65536),
    access_sealed   bytea NOT NULL,
    -- Something that it wrapped when it was set: while that opens, the key is there.
    probe           text NOT NULL,
    state           text NOT NULL DEFAULT 'USABLE' CONSTRAINT customer_keys_state_known
        CHECK (state IN ('USABLE','UNREACHABLE','REVOKED')),
    -- Looks in a row that were answered with a no.
    refusals        integer NOT NULL DEFAULT 0,
    detail          text NOT NULL DEFAULT '',
    state_since     timestamptz NOT NULL DEFAULT now(),
    checked_at      timestamptz NOT NULL DEFAULT now(),
    set_at          timestamptz NOT NULL DEFAULT now(),
    set_by          text NOT NULL,
    -- What was wrapped before is wrapped anew, under the key's newest version.
    rewrap_before   timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE UNIQUE INDEX customer_keys_current ON customer_keys (organisation_id) WHERE current;

-- NULL: sealed under the platform's key alone. Else that, wrapped by the customer's key: both are
-- needed to open it, and neither the key service nor who has the platform's key can do it alone.
ALTER TABLE lineages
    ADD COLUMN wrapped_by text REFERENCES customer_keys (id),
    ADD COLUMN wrapped_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX lineages_by_key ON lineages (wrapped_by) WHERE wrapped_by IS NOT NULL;
CREATE INDEX sessions_by_lineage ON sessions (lineage_id);
