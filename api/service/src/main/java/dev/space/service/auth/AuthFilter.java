package dev.space.service.auth;

import dev.space.model.SpaceException;
import dev.space.service.problem.Problems;
import jakarta.inject.Inject;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Nothing under {@code /v1} is answered without an API key, and nothing under {@code /operator}
 * without the operator's. Runs on the endpoint's virtual thread.
 */
public class AuthFilter {
    private final ApiKeys keys;
    private final OperatorKey operator;
    private final Caller caller;

    @Inject
    public AuthFilter(ApiKeys keys, OperatorKey operator, Caller caller) {
        this.keys = keys;
        this.operator = operator;
        this.caller = caller;
    }

    /** Null lets the request through. */
    @ServerRequestFilter
    public @Nullable Response authenticate(ContainerRequestContext request) {
        String path = request.getUriInfo().getPath();
        String header = request.getHeaderString(HttpHeaders.AUTHORIZATION);
        try {
            if (path.startsWith("/operator")) {
                operator.demand(header);
            } else if (path.startsWith("/v1")) {
                caller.set(keys.authenticate(header));
            }
            return null;
        } catch (SpaceException failure) {
            return Problems.response(failure);
        }
    }
}
