package dev.space.service.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.TenantStore;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Looks API keys up by their SHA-256, so that no comparison depends on how much of a guess is
 * right; {@link Blob} compares in constant time besides. A revoked key works for the cache's time
 * at most. Wrong keys are not cached: they cost one index look-up.
 */
@Singleton
public class ApiKeys {
    /** How long a revoked key may still work. */
    static final Duration CACHED = Duration.ofSeconds(10);

    private static final Pattern FORM = Pattern.compile("space_[0-9a-f]{40}");
    private static final String SCHEME = "Bearer ";

    private final TenantStore tenants;
    private final Cache<Blob, TenantStore.Caller> cache =
            Caffeine.newBuilder().maximumSize(100_000).expireAfterWrite(CACHED).build();

    @Inject
    public ApiKeys(TenantStore tenants) {
        this.tenants = tenants;
    }

    /** The caller behind an {@code Authorization} header. */
    public TenantStore.Caller authenticate(@Nullable String header) {
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw new SpaceException(
                    ErrorCode.UNAUTHENTICATED,
                    "send the API key as: Authorization: Bearer space_...");
        }
        String key = header.substring(SCHEME.length()).strip();
        if (!FORM.matcher(key).matches()) {
            throw wrong();
        }
        Blob hash = Blob.of(TenantStore.hash(key));
        TenantStore.Caller cached = cache.getIfPresent(hash);
        if (cached != null) {
            return cached;
        }
        Optional<TenantStore.Caller> found = tenants.find(hash.bytes());
        TenantStore.Caller caller = found.orElseThrow(ApiKeys::wrong);
        cache.put(hash, caller);
        return caller;
    }

    private static SpaceException wrong() {
        return new SpaceException(ErrorCode.UNAUTHENTICATED, "the API key is not known");
    }
}
