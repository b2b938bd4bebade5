-- Events that are not in the chain yet: in the transaction that writes them, so that none is missed
-- however late it commits.
CREATE TABLE audit_pending (
    event_id bigint PRIMARY KEY
);
INSERT INTO audit_pending SELECT id FROM events;
CREATE FUNCTION chain_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_pending VALUES (NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER events_are_chained AFTER INSERT ON events
    FOR EACH ROW EXECUTE FUNCTION chain_later();

-- One chain for each organisation; '' has what belongs to none. Each hash is over the one before.
CREATE TABLE audit_chain (
    organisation_id text NOT NULL,
    position        bigint NOT NULL CHECK (position > 0),
    event_id        bigint NOT NULL UNIQUE REFERENCES events (id),
    project_id      text NOT NULL,
    digest          text NOT NULL CHECK (length(digest) = 64),
    hash            text NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (organisation_id, position)
);
CREATE TRIGGER audit_chain_append_only BEFORE UPDATE OR DELETE ON audit_chain
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_chain_no_truncate BEFORE TRUNCATE ON audit_chain
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
