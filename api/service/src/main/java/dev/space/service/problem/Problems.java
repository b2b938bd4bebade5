package dev.space.service.problem;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Turns every failure into problem+json. What nobody expected is logged and says nothing more. */
public class Problems {
    /** The media type of all error answers. */
    public static final String TYPE = "application/problem+json";

    /** What a caller should wait before trying again. */
    private static final int RETRY_AFTER_SECONDS = 1;

    private static final Logger LOG = Logger.getLogger(Problems.class);

    /** The answer for an error of the catalogue. */
    public static Response response(SpaceException failure) {
        return response(Problem.of(failure.code(), String.valueOf(failure.getMessage())));
    }

    /** The answer for a problem that is already one. */
    public static Response response(Problem problem) {
        Response.ResponseBuilder answer =
                Response.status(problem.status()).type(TYPE).entity(problem);
        if (problem.status() == 503 || problem.status() == 429) {
            answer.header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        if (problem.status() == 401) {
            answer.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
        }
        return answer.build();
    }

    @ServerExceptionMapper
    public Response space(SpaceException failure) {
        if (failure.code() == ErrorCode.INTERNAL) {
            LOG.error("an invariant was broken", failure);
        }
        return response(failure);
    }

    @ServerExceptionMapper
    public Response problem(ProblemException failure) {
        return response(failure.problem());
    }

    @ServerExceptionMapper
    public Response json(JsonProcessingException failure) {
        return response(Problem.of(ErrorCode.INVALID_ARGUMENT, "the body is not valid JSON"));
    }

    /** What JAX-RS itself refuses: an unknown path, a wrong method, a bad parameter. */
    @ServerExceptionMapper
    public Response web(WebApplicationException failure, ContainerRequestContext request) {
        int status = failure.getResponse().getStatus();
        return switch (status) {
            case 404 -> response(Problem.of(ErrorCode.NOT_FOUND, "there is nothing at this path"));
            case 413 -> response(Problem.of(ErrorCode.BODY_TOO_LARGE, "the body is too large"));
            case 405 -> wrongMethod(request.getMethod());
            case 406, 415 -> refused(status, failure);
            default ->
                    status < 500
                            ? refused(status, failure)
                            : response(Problem.of(ErrorCode.INTERNAL, "see the server's log"));
        };
    }

    private static Response wrongMethod(String method) {
        String text = "this path does not take " + method + "; /docs lists what it takes";
        return response(Problem.of(ErrorCode.INVALID_ARGUMENT, text).withStatus(405));
    }

    private static Response refused(int status, WebApplicationException failure) {
        Problem plain =
                Problem.of(ErrorCode.INVALID_ARGUMENT, String.valueOf(failure.getMessage()));
        return response(plain.withStatus(status));
    }

    @ServerExceptionMapper
    public Response unexpected(RuntimeException failure) {
        LOG.error("a request failed in a way nobody planned for", failure);
        return response(
                Problem.of(ErrorCode.INTERNAL, "the request failed; the server's log says why"));
    }
}
