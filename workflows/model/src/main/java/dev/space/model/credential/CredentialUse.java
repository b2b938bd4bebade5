package dev.space.model.credential;

import dev.space.model.egress.HttpMatch;
import dev.space.model.json.JsonTree;
import dev.space.model.json.JsonTree.Node;
import java.util.List;
import java.util.Optional;

/**
 * What a credential is for: all of it but its name and its secret.
 *
 * @param hosts at least one
 * @param limit of each session that it is granted to; none where it is empty
 */
public record CredentialUse(
        List<GrantedHost> hosts, HttpMatch match, Injection injection, Optional<UseLimit> limit) {

    /** Hosts of one credential. */
    public static final int HOSTS_MAX = 16;

    /** As JSON, in characters. */
    public static final int JSON_CHARS_MAX = 7 << 10;

    public CredentialUse {
        hosts = List.copyOf(hosts);
        if (hosts.isEmpty() || hosts.size() > HOSTS_MAX) {
            throw new IllegalArgumentException("a credential has 1 to " + HOSTS_MAX + " hosts");
        }
    }

    /** Without a limit. */
    public CredentialUse(List<GrantedHost> hosts, HttpMatch match, Injection injection) {
        this(hosts, match, injection, Optional.empty());
    }

    /**
     * From an object with the fields {@code hosts}, {@code methods}, {@code path}, {@code
     * injection} and {@code limit}.
     *
     * @throws dev.space.model.SpaceException INVALID_ARGUMENT with the field and what it must be
     */
    public static CredentialUse parse(String json) {
        Node use = JsonTree.read(json, "credential", JSON_CHARS_MAX);
        use.only("hosts", "methods", "path", "injection", "limit");
        return GrantsParser.use(use);
    }

    /** Canonical. */
    public String toJson() {
        return GrantsWriter.use(this);
    }
}
