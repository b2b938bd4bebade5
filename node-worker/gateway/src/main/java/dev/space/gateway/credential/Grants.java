package dev.space.gateway.credential;

import dev.space.gateway.tcp.Target;
import dev.space.model.Secret;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialMatch;
import dev.space.model.credential.Injection;
import dev.space.model.egress.EgressReason;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Grants of one session with their secrets, from a binding to the next. */
public final class Grants implements SessionCredentials, AutoCloseable {

    private final CredentialGrants grants;
    private final Map<String, Opened> opened = new HashMap<>();
    private final LongSupplier now;

    private record Opened(Secret secret, Texts texts) {}

    private Grants(CredentialGrants grants, LongSupplier now) {
        this.grants = grants;
        this.now = now;
    }

    /**
     * Opens them all.
     *
     * @param now seconds since 1970
     */
    public static Grants open(CredentialGrants grants, Unsealer unsealer, LongSupplier now) {
        Grants made = new Grants(grants, now);
        for (CredentialGrant grant : grants.all()) {
            unsealer.secret(grant)
                    .filter(s -> fits(grant.use().injection(), s))
                    .ifPresent(s -> made.opened.put(grant.name(), opened(s)));
        }
        return made;
    }

    private static Opened opened(Secret secret) {
        byte[] plain = secret.bytes();
        try {
            return new Opened(secret, Texts.of(plain));
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }

    /** What would break a header's line cannot be in one. */
    private static boolean fits(Injection injection, Secret secret) {
        if (injection instanceof Injection.Query || injection instanceof Injection.Basic) {
            return true;
        }
        byte[] plain = secret.bytes();
        try {
            for (byte b : plain) {
                if ((b >= 0 && b < 0x20) || b == 0x7f) {
                    return false;
                }
            }
            return true;
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }

    @Override
    public boolean isFor(String host, int port) {
        return grants.isFor(host, port, now.getAsLong());
    }

    @Override
    public Set<String> names() {
        return grants.all().stream()
                .flatMap(g -> g.use().hosts().stream())
                .map(h -> h.host().name())
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public Choice choose(Target target, HttpRequest request) {
        CredentialMatch match =
                grants.match(
                        target.host(),
                        target.port(),
                        request.method().name(),
                        request.uri(),
                        now.getAsLong());
        if (carries(request, grants.placeholdersBut(match))) {
            return new Forbidden(EgressReason.PLACEHOLDER_NOT_GRANTED, "", "");
        }
        return switch (match) {
            case CredentialMatch.None _ -> new Nothing();
            case CredentialMatch.Refused(EgressReason reason, String detail) ->
                    new Forbidden(reason, "", detail);
            case CredentialMatch.One(CredentialGrant grant) -> one(grant);
        };
    }

    private Choice one(CredentialGrant grant) {
        Opened own = opened.get(grant.name());
        return own == null
                ? new Forbidden(EgressReason.CREDENTIAL_UNAVAILABLE, grant.id(), grant.name())
                : new Chosen(new GrantUse(grant, own.secret(), own.texts()));
    }

    private static boolean carries(HttpRequest request, List<String> placeholders) {
        for (String text : placeholders) {
            if (request.uri().contains(text)) {
                return true;
            }
            for (Map.Entry<String, String> header : request.headers()) {
                if (header.getValue().contains(text)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Wipes all secrets. Answers that are under way are still cleaned of them. */
    @Override
    public void close() {
        opened.values().forEach(o -> o.secret().close());
        opened.clear();
    }
}
