package dev.space.service.auth;

import dev.space.model.SpaceException;
import dev.space.service.problem.Problems;
import jakarta.inject.Inject;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/** Nothing under {@code /v1} is answered without a key. Runs on the endpoint's virtual thread. */
public class AuthFilter {
    private final ApiKeys keys;
    private final Caller caller;

    @Inject
    public AuthFilter(ApiKeys keys, Caller caller) {
        this.keys = keys;
        this.caller = caller;
    }

    /** Null lets the request through. */
    @ServerRequestFilter
    public @Nullable Response authenticate(ContainerRequestContext request) {
        if (!request.getUriInfo().getPath().startsWith("/v1")) {
            return null;
        }
        try {
            caller.set(keys.authenticate(request.getHeaderString(HttpHeaders.AUTHORIZATION)));
            return null;
        } catch (SpaceException failure) {
            return Problems.response(failure);
        }
    }
}
