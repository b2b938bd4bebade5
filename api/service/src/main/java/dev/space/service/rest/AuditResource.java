package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.audit.AuditChain;
import dev.space.model.audit.AuditEntry;
import dev.space.service.auth.Caller;
import dev.space.store.AuditRows;
import dev.space.store.AuditRows.Linked;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What was done, as a chain that shows whether anything was changed since. */
@Path("/v1/audit")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Records")
@RunOnVirtualThread
public class AuditResource {
    private final Caller caller;
    private final AuditRows rows;

    @Inject
    public AuditResource(Caller caller, AuditRows rows) {
        this.caller = caller;
        this.rows = rows;
    }

    /** One link of the chain. */
    @Schema(name = "AuditLink")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record LinkView(
            long position,
            @Schema(description = "whose record it is") String project,
            @Schema(description = "SHA-256 of the record") String digest,
            @Schema(description = "SHA-256 over the hash before and this link") String hash,
            @Schema(description = "absent: another project's") @Nullable AuditEntry entry) {

        private static LinkView of(Linked row) {
            AuditChain.Link link = row.link();
            return new LinkView(
                    link.position(), link.project(), link.digest(), link.hash(), row.entry());
        }
    }

    /** A part of the chain of the caller's organisation. */
    @Schema(name = "AuditPage")
    public record AuditPage(
            String organisation,
            @Schema(description = "the caller's") String project,
            List<LinkView> links) {}

    @GET
    @Operation(summary = "The organisation's chain of records, oldest first; others' as digests")
    public AuditPage page(
            @QueryParam("after") @Nullable String after,
            @QueryParam("limit") @Nullable String limit) {
        long position = after == null ? 0 : Requests.number("after", after, 0, Long.MAX_VALUE);
        return new AuditPage(
                caller.organisation(),
                caller.project(),
                rows
                        .page(
                                caller.organisation(),
                                caller.project(),
                                position,
                                Requests.limit(limit))
                        .stream()
                        .map(LinkView::of)
                        .toList());
    }
}
