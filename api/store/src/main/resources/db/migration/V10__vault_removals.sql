-- What is to go from the vault: written in the transaction that stops needing it, whoever that is,
-- so that a vault that is down now is rid of it later.
CREATE TABLE vault_removals (
    path     text NOT NULL,
    -- Versions below this one are destroyed; 0: the whole entry.
    below    bigint NOT NULL CHECK (below >= 0),
    asked_at timestamptz NOT NULL DEFAULT now(),
    tried_at timestamptz,
    PRIMARY KEY (path, below)
);

CREATE FUNCTION forget_in_vault() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.vault_path IS NOT NULL THEN
        -- It is in use again.
        DELETE FROM vault_removals WHERE path = NEW.vault_path AND below = 0;
    END IF;
    IF TG_OP = 'INSERT' OR OLD.vault_path IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR NEW.vault_path IS DISTINCT FROM OLD.vault_path THEN
        INSERT INTO vault_removals (path, below) VALUES (OLD.vault_path, 0)
            ON CONFLICT DO NOTHING;
    ELSIF NEW.vault_version > OLD.vault_version AND OLD.vault_version > 1 THEN
        -- The last one stays until the next: gateways may not have heard of the new one yet.
        INSERT INTO vault_removals (path, below) VALUES (OLD.vault_path, OLD.vault_version)
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER credentials_leave_the_vault AFTER INSERT OR UPDATE OR DELETE ON credentials
    FOR EACH ROW EXECUTE FUNCTION forget_in_vault();
