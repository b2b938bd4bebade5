package dev.space.cli.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.space.model.audit.AuditChain;
import dev.space.model.audit.AuditEntry;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks a chain line by line, as the API and `audit export` give it. Read strictly: what two
 * readers could take for two things, or what no digest covers, is a change.
 */
final class AuditCheck {

    private static final JsonMapper STRICT = strict();

    private final @Nullable String anchor;
    private @Nullable AuditChain chain;
    private Head head = new Head("", "");
    private long line;
    private long whole;
    private long digests;
    private @Nullable String fault;
    private boolean anchored;

    /**
     * @param anchor POSITION:HASH that the chain must have
     */
    AuditCheck(@Nullable String anchor) {
        this.anchor = anchor;
        this.anchored = anchor == null;
    }

    /** Whose chain it is, and who asked. */
    private record Head(String organisation, String project) {}

    private record Line(
            Long position, String project, String digest, String hash, @Nullable Entry entry) {}

    private record Entry(
            String at,
            String project,
            @Nullable String session,
            String actor,
            String action,
            String object,
            String outcome,
            String reason,
            @Nullable Long epoch,
            @Nullable String node) {

        AuditEntry checked() {
            Instant time = Instant.parse(at);
            if (!time.truncatedTo(ChronoUnit.MICROS).toString().equals(at)) {
                throw new DateTimeException("not as it is written");
            }
            return new AuditEntry(
                    time, project, session, actor, action, object, outcome, reason, epoch, node);
        }
    }

    private static JsonMapper strict() {
        return JsonMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .withCoercionConfig(
                        LogicalType.Textual,
                        config -> {
                            config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail);
                            config.setCoercion(CoercionInputShape.Float, CoercionAction.Fail);
                            config.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
                        })
                .build();
    }

    /** A line of a file; answers as {@link #take}. */
    boolean takeText(String text) {
        try {
            JsonNode read = STRICT.readTree(text);
            if (read.isObject()) {
                return take(read);
            }
            line++;
        } catch (JsonProcessingException malformed) {
            line++;
        }
        fault = "line " + line + " is not one JSON object with each field once";
        return false;
    }

    /** Answers whether there is a reason to go on. */
    boolean take(JsonNode read) {
        line++;
        try {
            if (chain == null) {
                begin(STRICT.treeToValue(read, Head.class));
            } else {
                fault = follow(chain, STRICT.treeToValue(read, Line.class));
            }
        } catch (JsonProcessingException malformed) {
            fault = "line " + line + " is not what an export has there";
        }
        anchored |= last().equals(anchor);
        return fault == null;
    }

    private void begin(Head first) {
        if (missing(first.organisation(), first.project())) {
            fault = "line 1 does not say whose chain it is";
            return;
        }
        head = first;
        chain = AuditChain.of(first.organisation());
    }

    private @Nullable String follow(AuditChain now, Line next) {
        if (next.position() == null || missing(next.project(), next.digest(), next.hash())) {
            return "line " + line + " lacks a field";
        }
        AuditChain.Link link =
                new AuditChain.Link(next.position(), next.project(), next.digest(), next.hash());
        Entry entry = next.entry();
        if (entry == null && link.project().equals(head.project())) {
            return "the record at " + link.position() + " is gone";
        }
        if (entry != null && isShort(entry)) {
            return "the record at " + link.position() + " was changed";
        }
        try {
            String wrong = now.take(link, entry == null ? null : entry.checked()).orElse(null);
            whole += entry == null ? 0 : 1;
            digests += entry == null ? 1 : 0;
            return wrong;
        } catch (DateTimeException malformed) {
            return "the record at " + link.position() + " was changed";
        }
    }

    private static boolean isShort(Entry entry) {
        return missing(
                entry.at(),
                entry.project(),
                entry.actor(),
                entry.action(),
                entry.object(),
                entry.outcome(),
                entry.reason());
    }

    private static boolean missing(@Nullable String... fields) {
        for (String field : fields) {
            if (field == null) {
                return true;
            }
        }
        return false;
    }

    /** What is wrong; null: nothing. */
    @Nullable String fault() {
        if (fault == null && chain == null) {
            return "there is none";
        }
        return fault == null && !anchored ? "it has no link " + anchor : fault;
    }

    /** What was looked at, for people: nothing proves who asked but that its records are whole. */
    String seen() {
        return "the chain of %s is good: %d records of %s whole, %d of other projects as digests"
                .formatted(head.organisation(), whole, head.project(), digests);
    }

    /** The last good link. */
    String last() {
        AuditChain now = chain;
        return now == null ? "" : now.position() + ":" + now.head();
    }
}
