package dev.space.service.auth;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.store.TenantStore;
import jakarta.enterprise.context.RequestScoped;
import org.jspecify.annotations.Nullable;

/** Who this request speaks for; set by {@link AuthFilter} before any resource runs. */
@RequestScoped
public class Caller {
    private TenantStore.@Nullable Caller caller;

    void set(TenantStore.Caller found) {
        caller = found;
    }

    private TenantStore.Caller get() {
        if (caller == null) {
            throw new SpaceException(ErrorCode.UNAUTHENTICATED, "the request has no API key");
        }
        return caller;
    }

    public String project() {
        return get().project();
    }

    public String organisation() {
        return get().organisation();
    }

    /** The key's id, which is what audit records name. */
    public String actor() {
        return get().keyId();
    }

    public String keyName() {
        return get().name();
    }
}
