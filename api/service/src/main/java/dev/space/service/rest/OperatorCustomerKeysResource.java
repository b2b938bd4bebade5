package dev.space.service.rest;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.service.key.CustomerKeys;
import dev.space.service.key.KeyPlace;
import dev.space.store.CustomerKeyRows;
import dev.space.store.CustomerKeyRows.CustomerKey;
import dev.space.store.LineageRows;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.io.InputStream;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The keys that organisations have in key services of their own; docs/keys.md. */
@Path("/operator/v1/organisations/{organisation}/key")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operator")
@RunOnVirtualThread
public class OperatorCustomerKeysResource {
    private static final String ACTOR = "operator";

    private final JsonBodies bodies;
    private final CustomerKeys keys;
    private final CustomerKeyRows rows;
    private final LineageRows lineages;

    @Inject
    public OperatorCustomerKeysResource(
            JsonBodies bodies, CustomerKeys keys, CustomerKeyRows rows, LineageRows lineages) {
        this.bodies = bodies;
        this.keys = keys;
        this.rows = rows;
        this.lineages = lineages;
    }

    /**
     * A key and what became of it.
     *
     * @param lineages families of sessions whose stored snapshots it protects
     * @param waiting families that are not protected as the organisation wants it yet
     */
    @Schema(name = "CustomerKey")
    public record CustomerKeyView(
            String id,
            String organisation,
            String kind,
            @Nullable String address,
            @Nullable String mount,
            @Nullable String region,
            String key,
            CustomerKeyRows.State state,
            String detail,
            Instant stateSince,
            Instant checkedAt,
            Instant setAt,
            long lineages,
            long waiting) {}

    @PUT
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary =
                    "Protect what an organisation stores with a key in its own key service; the"
                            + " key is tried before anything is changed")
    @RequestBody(content = @Content(schema = @Schema(implementation = SetCustomerKey.class)))
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = CustomerKeyView.class)))
    public CustomerKeyView put(@PathParam("organisation") String organisation, InputStream body) {
        SetCustomerKey wanted =
                bodies.read(body, SetCustomerKey.class, "PUT", "/operator/v1/organisations")
                        .value();
        KeyPlace place = wanted.checkedPlace();
        try (Secret role = wanted.checkedId();
                Secret secret = wanted.checkedSecret()) {
            return view(keys.set(organisation, place, role, secret, ACTOR));
        }
    }

    @GET
    @Operation(summary = "The organisation's key, whether it can be used, and what it protects")
    public CustomerKeyView get(@PathParam("organisation") String organisation) {
        return view(
                keys.current(rows.organisation(organisation))
                        .orElseThrow(() -> none(organisation)));
    }

    @POST
    @Path("rewrap")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary =
                    "Protect everything anew with the key's newest version, after its rotation;"
                            + " what is stored is not rewritten")
    public CustomerKeyView rewrap(@PathParam("organisation") String organisation) {
        rows.rewrap(rows.organisation(organisation), ACTOR);
        return get(organisation);
    }

    /** What follows. */
    @Schema(name = "RemovedCustomerKey")
    public record Removed(String organisation, long waiting) {}

    @DELETE
    @Operation(
            summary =
                    "Go back to the platform's own key; the organisation's is needed until"
                            + " everything is protected anew")
    public Removed delete(@PathParam("organisation") String organisation) {
        String id = rows.organisation(organisation);
        if (!rows.remove(id, ACTOR)) {
            throw none(organisation);
        }
        return new Removed(organisation, lineages.waiting(id));
    }

    private CustomerKeyView view(CustomerKey key) {
        KeyPlace place = KeyPlace.of(key.place());
        return new CustomerKeyView(
                key.id(),
                key.name(),
                place.kind(),
                place.address(),
                place.mount(),
                place.region(),
                place.key(),
                key.state(),
                key.detail(),
                key.stateSince(),
                key.checked(),
                key.set(),
                lineages.wrapped(key.id()),
                lineages.waiting(key.organisation()));
    }

    private static SpaceException none(String organisation) {
        return new SpaceException(
                ErrorCode.NOT_FOUND,
                "organisation "
                        + CreateSession.printable(organisation)
                        + " has no key of its own; the platform's key protects what it stores");
    }
}
