package dev.space.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.space.model.audit.AuditChain;
import dev.space.model.audit.AuditEntry;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Checks a chain line by line, as the API and `audit export` give it. */
final class AuditCheck {

    private final @Nullable String anchor;
    private @Nullable AuditChain chain;
    private String project = "";
    private @Nullable String fault;
    private boolean anchored;

    /**
     * @param anchor POSITION:HASH that the chain must have
     */
    AuditCheck(@Nullable String anchor) {
        this.anchor = anchor;
        this.anchored = anchor == null;
    }

    /** Answers whether there is a reason to go on. */
    boolean take(JsonNode line) {
        AuditChain now = chain;
        if (now == null) {
            chain = AuditChain.of(line.path("organisation").asText());
            project = line.path("project").asText();
            look();
            return true;
        }
        AuditChain.Link link =
                new AuditChain.Link(
                        line.path("position").asLong(),
                        line.path("project").asText(),
                        line.path("digest").asText(),
                        line.path("hash").asText());
        try {
            JsonNode entry = line.path("entry");
            if (entry.isMissingNode() && link.project().equals(project)) {
                fault = "the record at " + link.position() + " is gone";
            } else {
                fault = now.take(link, entry.isMissingNode() ? null : entry(entry)).orElse(null);
            }
        } catch (DateTimeException malformed) {
            fault = "the record at " + link.position() + " was changed";
        }
        look();
        return fault == null;
    }

    private void look() {
        anchored |= last().equals(anchor);
    }

    private static AuditEntry entry(JsonNode entry) {
        return new AuditEntry(
                Instant.parse(entry.path("at").asText()),
                entry.path("project").asText(),
                entry.path("session").asText(null),
                entry.path("actor").asText(),
                entry.path("action").asText(),
                entry.path("object").asText(),
                entry.path("outcome").asText(),
                entry.path("reason").asText(),
                entry.path("epoch").isNumber() ? entry.path("epoch").asLong() : null,
                entry.path("node").asText(null));
    }

    /** What is wrong; null: nothing. */
    @Nullable String fault() {
        if (fault == null && chain == null) {
            return "there is none";
        }
        return fault == null && !anchored ? "it has no link " + anchor : fault;
    }

    /** The last good link. */
    String last() {
        AuditChain now = chain;
        return now == null ? "" : now.position() + ":" + now.head();
    }
}
