package dev.space.service.rest;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.core.exc.StreamReadException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.deser.std.StringDeserializer;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.NearestKey;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON bodies: bounded before they are parsed, strict about unknown fields, and with the hash
 * that an idempotency key belongs to.
 */
@Singleton
public class JsonBodies {
    private final ObjectMapper mapper;

    @Inject
    public JsonBodies(ObjectMapper mapper) {
        this.mapper = strict(mapper.copy());
    }

    /** "5" is no number and 1 is no truth value; text is text that every part can keep. */
    private static ObjectMapper strict(ObjectMapper mapper) {
        for (LogicalType type : List.of(LogicalType.Integer, LogicalType.Boolean)) {
            mapper.coercionConfigFor(type)
                    .setCoercion(CoercionInputShape.String, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail);
        }
        mapper.coercionConfigFor(LogicalType.Boolean)
                .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail);
        return mapper.registerModule(
                new SimpleModule().addDeserializer(String.class, new WholeText()));
    }

    /** Half a surrogate pair has no UTF-8: it would become another text on its way. */
    private static final class WholeText extends StdScalarDeserializer<String> {
        private static final long serialVersionUID = 1;

        WholeText() {
            super(String.class);
        }

        @Override
        public @Nullable String deserialize(JsonParser parser, DeserializationContext context)
                throws IOException {
            String text = StringDeserializer.instance.deserialize(parser, context);
            if (text != null && !StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
                return (String) context.handleWeirdStringValue(String.class, "", "no whole text");
            }
            return text;
        }
    }

    /** A parsed body with the bytes' hash. */
    public record Body<T>(T value, Blob hash) {}

    /** Reads a body of this type; an absent body is an empty object. */
    public <T> Body<T> read(InputStream in, Class<T> type, String... scope) {
        byte[] bytes = bounded(in);
        return new Body<>(parse(bytes, type), hash(bytes, scope));
    }

    /** A field that was read as it came; null where it is not there, or null itself. */
    <T> @Nullable T part(String field, @Nullable JsonNode value, Class<T> type) {
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isObject()) {
            throw CreateSession.invalid("field " + field + " has a wrong type");
        }
        return parse(value.toString().getBytes(StandardCharsets.UTF_8), type);
    }

    private static byte[] bounded(InputStream in) {
        try {
            byte[] bytes = in.readNBytes(Limits.JSON_BODY_BYTES_MAX + 1);
            if (bytes.length > Limits.JSON_BODY_BYTES_MAX) {
                throw new SpaceException(
                        ErrorCode.BODY_TOO_LARGE,
                        "a JSON body has at most " + Limits.JSON_BODY_BYTES_MAX + " bytes");
            }
            return bytes;
        } catch (IOException cut) {
            throw new SpaceException(ErrorCode.INVALID_ARGUMENT, "the body ended early", cut);
        }
    }

    private <T> T parse(byte[] bytes, Class<T> type) {
        ObjectReader reader =
                mapper.readerFor(type)
                        .with(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                        .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                        // 1.5 is no count, and of two values nobody can say which was meant.
                        .without(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                        .with(StreamReadFeature.STRICT_DUPLICATE_DETECTION);
        try {
            T value = reader.readValue(bytes.length == 0 ? new byte[] {'{', '}'} : bytes);
            if (value == null) {
                throw CreateSession.invalid("the body must be a JSON object");
            }
            return value;
        } catch (UnrecognizedPropertyException unknown) {
            throw new SpaceException(ErrorCode.INVALID_ARGUMENT, complaint(unknown), unknown);
        } catch (JsonMappingException wrong) {
            if (isMalformed(wrong)) {
                throw malformed(wrong);
            }
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    "field " + path(wrong) + " has a wrong type",
                    wrong);
        } catch (JsonProcessingException malformed) {
            throw malformed(malformed);
        } catch (IOException impossible) {
            throw new SpaceException(ErrorCode.INTERNAL, "the body cannot be read", impossible);
        }
    }

    /** The text itself, not a value that does not fit its field. */
    private static boolean isMalformed(JsonMappingException wrong) {
        return (wrong.getCause() instanceof StreamReadException
                        && !(wrong.getCause() instanceof InputCoercionException))
                || String.valueOf(wrong.getOriginalMessage()).startsWith("Trailing token");
    }

    /** Says where; never what the body holds. */
    private static SpaceException malformed(JsonProcessingException why) {
        String message = String.valueOf(why.getOriginalMessage());
        String detail =
                message.startsWith("Duplicate ")
                        ? "a field of the body is there twice"
                        : "the body is not valid JSON";
        JsonLocation at = why.getLocation();
        String where =
                at == null ? "" : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
        return new SpaceException(ErrorCode.INVALID_ARGUMENT, detail + where, why);
    }

    private static String complaint(UnrecognizedPropertyException unknown) {
        List<String> known = unknown.getKnownPropertyIds().stream().map(String::valueOf).toList();
        return "unknown field "
                + unknown.getPropertyName()
                + NearestKey.of(unknown.getPropertyName(), known)
                        .map(near -> "; did you mean " + near + "?")
                        .orElse("");
    }

    private static String path(JsonMappingException wrong) {
        String path =
                wrong.getPath().stream()
                        .map(r -> r.getFieldName() == null ? "[]" : r.getFieldName())
                        .collect(Collectors.joining("."));
        return path.isEmpty() ? "(body)" : path;
    }

    /** SHA-256 over the request's scope and body. */
    static Blob hash(byte[] bytes, String... scope) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String part : scope) {
                digest.update(part.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0);
            }
            return Blob.of(digest.digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
