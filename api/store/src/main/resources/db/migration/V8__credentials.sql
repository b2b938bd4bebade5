-- Credentials: what they are for, and their secret, sealed to the gateways' key or as its place in
-- a vault. No process that reads these rows can open it.
CREATE TABLE credentials (
    id              text PRIMARY KEY,
    organisation_id text NOT NULL REFERENCES organisations (id),
    -- NULL: every project of the organisation may grant it.
    project_id      text REFERENCES projects (id),
    name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    -- Of the secret: each setting has the next one.
    version         bigint NOT NULL CHECK (version > 0),
    -- Canonical JSON of dev.space.model.credential.CredentialUse.
    used_for        text NOT NULL CHECK (length(used_for) <= 7168),
    sealed          text CHECK (length(sealed) <= 24576),
    vault_path      text,
    vault_version   bigint,
    owner           text NOT NULL DEFAULT '',
    expires_at      timestamptz,
    rotate_after    timestamptz,
    -- True once the sessions that had it were told that it expired.
    expiry_told     boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    set_at          timestamptz NOT NULL DEFAULT now(),
    set_by          text NOT NULL,
    CONSTRAINT credentials_secret_is_somewhere CHECK
        ((sealed IS NULL) <> (vault_path IS NULL)
            AND (vault_path IS NULL) = (vault_version IS NULL))
);
CREATE UNIQUE INDEX credentials_of_projects ON credentials (project_id, name)
    WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX credentials_of_organisations ON credentials (organisation_id, name)
    WHERE project_id IS NULL;
CREATE INDEX credentials_expiring ON credentials (expires_at)
    WHERE expires_at IS NOT NULL AND NOT expiry_told;

-- Which session may use which. It names the credential that the name meant when it was granted.
CREATE TABLE session_grants (
    session_id    text NOT NULL REFERENCES sessions (id),
    credential_id text NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
    expires_at    timestamptz,
    granted_by    text NOT NULL,
    granted_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (session_id, credential_id)
);
CREATE INDEX session_grants_by_credential ON session_grants (credential_id);
CREATE INDEX session_grants_expiring ON session_grants (expires_at) WHERE expires_at IS NOT NULL;

-- Whoever ends the session: it uses nothing any more.
CREATE FUNCTION forget_grants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM session_grants WHERE session_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER session_grants_end AFTER UPDATE OF state ON sessions FOR EACH ROW
    WHEN (NEW.state = 'DESTROYED' AND OLD.state <> 'DESTROYED')
    EXECUTE FUNCTION forget_grants();

-- A fork's children have no grants unless the fork says so.
ALTER TABLE fork_children ADD COLUMN inherit_grants boolean NOT NULL DEFAULT false;
