-- What a session may reach: the policy's canonical JSON; NULL: nothing, and no gateway is asked.
-- The version grows with each change, so that a node knows whether it has the newest.
ALTER TABLE sessions
    ADD COLUMN network text CONSTRAINT sessions_network_bounded CHECK (length(network) <= 65536),
    ADD COLUMN network_version bigint NOT NULL DEFAULT 0,
    ADD CONSTRAINT sessions_network_counted CHECK (network IS NULL OR network_version > 0);

-- The newest of what a session reached or was refused.
CREATE INDEX events_of_networks ON events (session_id, id) WHERE action LIKE 'egress.%';
