package dev.space.gateway.credential;

import dev.space.gateway.tcp.Target;
import dev.space.model.credential.CredentialGrant;
import dev.space.model.credential.CredentialGrants;
import dev.space.model.credential.CredentialMatch;
import dev.space.model.credential.Injection;
import dev.space.model.credential.Material;
import dev.space.model.egress.EgressReason;
import dev.space.vault.VaultFault;
import io.netty.handler.codec.http.HttpRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Grants of one session with their secrets, from a binding to the next. */
public final class Grants implements SessionCredentials, AutoCloseable {

    private final CredentialGrants grants;
    private final Map<String, Opened> opened = new HashMap<>();
    private final Map<String, VaultedSecret> vaulted = new HashMap<>();
    private final Map<String, MintedToken> tokens = new HashMap<>();
    private final Map<String, UseRate> rates = new HashMap<>();
    private final LongSupplier now;

    private Grants(CredentialGrants grants, LongSupplier now) {
        this.grants = grants;
        this.now = now;
    }

    /**
     * Opens those that are sealed; those in a vault, and tokens, are asked for when they are used.
     *
     * @param mayBePrivate whether the session's policy allows a private address for host and port
     * @param now seconds since 1970
     */
    public static Grants open(
            CredentialGrants grants,
            Sources sources,
            BiPredicate<String, Integer> mayBePrivate,
            LongSupplier now) {
        Grants made = new Grants(grants, now);
        TokenSource tokens = new TokenSource(sources.tokens(), mayBePrivate, now);
        for (CredentialGrant grant : grants.all()) {
            grant.use()
                    .limit()
                    .ifPresent(limit ->
                            made.rates.put(grant.name(), new UseRate(limit, System::nanoTime)));
            minted(grant, tokens).ifPresent(token -> made.tokens.put(grant.name(), token));
            if (grant.material() instanceof Material.Vault place) {
                made.vaulted.put(
                        grant.name(),
                        new VaultedSecret(grant, place, sources.vault()::ask, System::nanoTime));
            } else {
                sources.unsealer()
                        .secret(grant)
                        .flatMap(s -> Opened.of(s, grant.use().injection()))
                        .ifPresent(o -> made.opened.put(grant.name(), o));
            }
        }
        return made;
    }

    private static Optional<MintedToken> minted(CredentialGrant grant, TokenSource tokens) {
        Optional<MintedToken.Source> source =
                switch (grant.use().injection()) {
                    case Injection.OAuth2 use ->
                            Optional.of(secret -> tokens.oauth2(grant.id(), use, secret));
                    case Injection.Jwt use ->
                            Optional.of(secret -> tokens.jwt(grant.id(), use, secret));
                    default -> Optional.empty();
                };
        return source.map(s -> new MintedToken(grant, s, System::nanoTime));
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
            case CredentialMatch.One(CredentialGrant grant) ->
                    isSignedInPieces(grant, request)
                            ? new Forbidden(
                                    EgressReason.SIGNATURE_STREAMED, grant.id(), grant.name())
                            : one(grant);
        };
    }

    private static boolean isSignedInPieces(CredentialGrant grant, HttpRequest request) {
        return grant.use().injection() instanceof Injection.Sigv4 aws
                && AwsRequest.isSignedInPieces(request, aws);
    }

    private Choice one(CredentialGrant grant) {
        VaultedSecret elsewhere = vaulted.get(grant.name());
        if (elsewhere != null) {
            return switch (elsewhere.look()) {
                case VaultedSecret.Ready(Opened own) -> chosen(grant, own);
                case VaultedSecret.Asked(CompletableFuture<Void> done) -> new Later(done);
                case VaultedSecret.Failed(VaultFault fault) ->
                        new Forbidden(
                                fault.isPassing()
                                        ? EgressReason.CREDENTIAL_STORE_UNAVAILABLE
                                        : EgressReason.CREDENTIAL_UNAVAILABLE,
                                grant.id(),
                                grant.name());
            };
        }
        Opened own = opened.get(grant.name());
        return own == null
                ? new Forbidden(EgressReason.CREDENTIAL_UNAVAILABLE, grant.id(), grant.name())
                : chosen(grant, own);
    }

    private Choice chosen(CredentialGrant grant, Opened own) {
        MintedToken token = tokens.get(grant.name());
        if (token == null) {
            return counted(grant, new GrantUse(grant, own.secret(), own.texts(), now, () -> {}));
        }
        return switch (token.look(own.secret())) {
            case MintedToken.Ready(Opened made) ->
                    counted(
                            grant,
                            new GrantUse(
                                    grant,
                                    made.secret(),
                                    made.texts(),
                                    now,
                                    () -> token.refused(made)));
            case MintedToken.Asked(CompletableFuture<Void> done) -> new Later(done);
            case MintedToken.Failed(EgressReason reason) ->
                    new Forbidden(reason, grant.id(), grant.name());
        };
    }

    /** Only what would be used counts, however often it was waited for. */
    private Choice counted(CredentialGrant grant, Use use) {
        UseRate rate = rates.get(grant.name());
        return rate == null || rate.take()
                ? new Chosen(use)
                : new Forbidden(EgressReason.CREDENTIAL_LIMIT, grant.id(), grant.name());
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

    /** Wipes what came from a vault or a token endpoint long enough ago. */
    public void forgetOld() {
        vaulted.values().forEach(VaultedSecret::forgetOld);
        tokens.values().forEach(MintedToken::forgetOld);
    }

    /** Wipes all secrets. Answers that are under way are still cleaned of them. */
    @Override
    public void close() {
        opened.values().forEach(o -> o.secret().close());
        opened.clear();
        vaulted.values().forEach(VaultedSecret::close);
        tokens.values().forEach(MintedToken::close);
    }
}
