package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.NearestKey;
import dev.space.model.SpaceException;
import dev.space.service.problem.Problems;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Response;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.microprofile.openapi.annotations.enums.ParameterIn;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses what an address says beside its path: a query parameter that the endpoint does not know,
 * and one that is given twice: a misspelt {@code wait} or {@code recursive} must not be taken for
 * its default. A parameter within the path ({@code /a;x=1}) would be dropped in silence, and a NUL
 * is in no name.
 */
public class AddressFilter {

    /** Names of each endpoint, and whether one may be repeated. */
    private final Map<Method, Map<String, Boolean>> known = new ConcurrentHashMap<>();

    /** After who asks is known. Null lets the request through. */
    @ServerRequestFilter(priority = Priorities.USER)
    public @Nullable Response check(
            ContainerRequestContext request, ResourceInfo endpoint, HttpServerRequest sent) {
        Method method = endpoint.getResourceMethod();
        if (!method.getDeclaringClass().getPackageName().startsWith("dev.space.")) {
            return null;
        }
        // As it was sent: the framework's address has parameters within the path left out already.
        String path = sent.path();
        if (path != null && (path.contains(";") || path.contains("%00"))) {
            return refused("a path has neither \";\" (write %3B) nor a NUL");
        }
        String query = request.getUriInfo().getRequestUri().getRawQuery();
        return query == null || query.isEmpty() ? null : checkQuery(query, method);
    }

    private @Nullable Response checkQuery(String query, Method method) {
        Map<String, Boolean> names = known.computeIfAbsent(method, AddressFilter::names);
        Set<String> seen = new HashSet<>();
        for (String pair : query.split("&", -1)) {
            int end = pair.indexOf('=');
            String name = end < 0 ? pair : pair.substring(0, end);
            Boolean repeated = names.get(name);
            if (repeated == null && !pair.isEmpty()) {
                return refused(unknown(name, names.keySet()));
            }
            if (!seen.add(name) && Boolean.FALSE.equals(repeated)) {
                return refused("the query parameter " + name + " is given twice");
            }
        }
        return null;
    }

    private static Map<String, Boolean> names(Method method) {
        Map<String, Boolean> names = new TreeMap<>();
        for (Parameter parameter : method.getParameters()) {
            QueryParam query = parameter.getAnnotation(QueryParam.class);
            if (query != null) {
                names.put(query.value(), Collection.class.isAssignableFrom(parameter.getType()));
            }
        }
        // Those that an endpoint takes from the address itself, as bytes.
        Arrays.stream(
                        method.getAnnotationsByType(
                                org.eclipse.microprofile.openapi.annotations.parameters.Parameter
                                        .class))
                .filter(p -> p.in() == ParameterIn.QUERY)
                .forEach(p -> names.put(p.name(), false));
        return names;
    }

    private static String unknown(String name, Collection<String> names) {
        if (names.isEmpty()) {
            return "this path takes no query parameters";
        }
        return "unknown query parameter"
                + NearestKey.of(name, names).map(near -> "; did you mean " + near + "?").orElse(".")
                + " This path takes "
                + String.join(", ", names);
    }

    private static Response refused(String why) {
        return Problems.response(new SpaceException(ErrorCode.INVALID_ARGUMENT, why));
    }
}
