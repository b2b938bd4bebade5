package dev.space.model.credential;

import dev.space.model.credential.CredentialMatch.None;
import dev.space.model.credential.CredentialMatch.One;
import dev.space.model.credential.CredentialMatch.Refused;
import dev.space.model.egress.EgressReason;
import dev.space.model.egress.HostName;
import dev.space.model.egress.HttpMatch;
import dev.space.model.egress.RequestPath;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All that one session may use, sorted by name. A request to a host that a credential is for passes
 * with exactly one credential, or not at all.
 */
public record CredentialGrants(List<CredentialGrant> all) {

    /** Grants of one session. */
    public static final int GRANTS_MAX = 64;

    /** A secret. */
    public static final int SECRET_BYTES_MAX = 16 << 10;

    /** All grants as JSON, in characters: what one message to a gateway can carry. */
    public static final int JSON_CHARS_MAX = 2 << 20;

    public static final CredentialGrants NONE = new CredentialGrants(List.of());

    public CredentialGrants {
        all = all.stream().sorted(Comparator.comparing(CredentialGrant::name)).toList();
        if (all.size() > GRANTS_MAX) {
            throw new IllegalArgumentException("a session has at most " + GRANTS_MAX + " grants");
        }
        Set<String> seen = new HashSet<>();
        for (CredentialGrant grant : all) {
            if (!seen.add(grant.name())) {
                throw new IllegalArgumentException("two grants are called " + grant.name());
            }
        }
    }

    /**
     * Grants from their JSON; the empty text has none.
     *
     * @throws dev.space.model.SpaceException INVALID_ARGUMENT with the field and what it must be
     */
    public static CredentialGrants parse(String json) {
        return json.isEmpty() ? NONE : GrantsParser.parse(json);
    }

    /** Canonical; empty where there are none. */
    public String toJson() {
        return all.isEmpty() ? "" : GrantsWriter.write(this);
    }

    /** Whether connections to a name and port must be looked into. */
    public boolean isFor(String host, int port, long now) {
        return !candidates(host, port, now).isEmpty();
    }

    /**
     * Which credential goes into a request, if any.
     *
     * @param host to which the connection is, in the form of HostName or as the sandbox wrote it
     * @param target of the request, in origin form
     * @param now seconds since 1970
     */
    public CredentialMatch match(String host, int port, String method, String target, long now) {
        List<CredentialGrant> candidates = candidates(host, port, now);
        if (candidates.isEmpty()) {
            return new None();
        }
        Optional<String> path = RequestPath.of(target);
        List<CredentialGrant> fit =
                candidates.stream().filter(g -> covers(g.use().match(), method, path)).toList();
        if (fit.size() == 1) {
            return new One(fit.getFirst());
        }
        if (fit.isEmpty()) {
            EgressReason reason =
                    path.isEmpty()
                            ? EgressReason.PATH_AMBIGUOUS
                            : EgressReason.CREDENTIAL_NOT_GRANTED;
            return new Refused(reason, names(candidates));
        }
        return new Refused(EgressReason.AMBIGUOUS_CREDENTIAL, names(fit));
    }

    /**
     * Texts that a request must not carry: placeholders of all grants but the one that matched,
     * also of those that expired, so that a sandbox learns of a mistake instead of sending it.
     */
    public List<String> placeholdersBut(CredentialMatch match) {
        String own = match instanceof One(CredentialGrant grant) ? grant.placeholder() : "";
        return all.stream()
                .map(CredentialGrant::placeholder)
                .filter(text -> !text.isEmpty() && !text.equals(own))
                .distinct()
                .toList();
    }

    private List<CredentialGrant> candidates(String host, int port, long now) {
        String name;
        try {
            name = HostName.of(host);
        } catch (IllegalArgumentException e) {
            return List.of(); // a raw address: no credential is for one
        }
        return all.stream().filter(g -> g.isAlive(now) && g.isFor(name, port)).toList();
    }

    /** A path that servers read in two ways fits only what is for every path. */
    private static boolean covers(HttpMatch match, String method, Optional<String> path) {
        String plain = match.path().equals(HttpMatch.ANY_PATH) ? "/" : path.orElse(null);
        return plain != null && match.matches(method, plain);
    }

    private static String names(List<CredentialGrant> grants) {
        return grants.stream().map(CredentialGrant::name).collect(Collectors.joining(", "));
    }
}
