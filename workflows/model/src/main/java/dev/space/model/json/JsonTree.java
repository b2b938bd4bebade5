package dev.space.model.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A small bounded JSON document whose every part knows its path, for messages that name it. */
public final class JsonTree {

    private static final int DEPTH_MAX = 8;

    /** A text of the document, where nothing longer is said. */
    public static final int VALUE_CHARS_MAX = 2048;

    private static final int SHOWN_CHARS_MAX = 60;

    private static final JsonFactory FACTORY = factory(VALUE_CHARS_MAX);

    private JsonTree() {}

    private static JsonFactory factory(int valueCharsMax) {
        return JsonFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .streamReadConstraints(
                        StreamReadConstraints.builder()
                                .maxNestingDepth(DEPTH_MAX)
                                .maxStringLength(valueCharsMax)
                                .maxNameLength(SHOWN_CHARS_MAX)
                                .build())
                .build();
    }

    /** Reads one object of short texts; a document of any other kind is refused. */
    public static Node read(String json, String name, int charsMax) {
        Node document = read(FACTORY, json, name, charsMax);
        Map<?, ?> _ = document.object();
        return document;
    }

    /** Reads a document of any kind whose texts may be as long as is said. */
    public static Node readAny(String json, String name, int charsMax, int valueCharsMax) {
        return read(factory(valueCharsMax), json, name, charsMax);
    }

    private static Node read(JsonFactory factory, String json, String name, int charsMax) {
        if (json.length() > charsMax) {
            throw refuse(name, "is longer than " + charsMax + " characters of JSON");
        }
        try (JsonParser in = factory.createParser(json)) {
            JsonToken first = in.nextToken();
            if (first == null) {
                throw refuse(name, "must be an object");
            }
            Node document = new Node(name, value(in, first));
            if (in.nextToken() != null) {
                throw refuse(name, "has something behind its end");
            }
            return document;
        } catch (JsonProcessingException e) {
            throw refuse(name, "is not JSON that can be read: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new IllegalStateException("text cannot fail to be read", e);
        }
    }

    /** Recursion is bounded by the parser's own limit of nesting. */
    private static @Nullable Object value(JsonParser in, JsonToken at) throws IOException {
        return switch (at) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> object = new LinkedHashMap<>();
                while (in.nextToken() == JsonToken.FIELD_NAME) {
                    String key = in.currentName();
                    object.put(key, value(in, in.nextToken()));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<@Nullable Object> array = new ArrayList<>();
                for (JsonToken t = in.nextToken(); t != JsonToken.END_ARRAY; t = in.nextToken()) {
                    array.add(value(in, t));
                }
                yield array;
            }
            case VALUE_STRING -> in.getText();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            case VALUE_NUMBER_INT ->
                    in.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                            ? (Object) in.getText()
                            : (Object) in.getLongValue();
            default -> in.getText();
        };
    }

    /** What is thrown where a part is not as it must be. */
    public static SpaceException refuse(String path, String why) {
        return new SpaceException(ErrorCode.INVALID_ARGUMENT, path + ": " + why);
    }

    /**
     * One part of the document.
     *
     * @param path as people write it, such as {@code network.allow[3].host}
     */
    public record Node(String path, @Nullable Object value) {

        /** Refuses any other field. */
        public void only(String... known) {
            for (Object key : object().keySet()) {
                if (!Set.of((Object[]) known).contains(key)) {
                    throw refuse(
                            path + "." + key,
                            "there is no such field; known are " + String.join(", ", known));
                }
            }
        }

        /** A field; null is as good as absent. */
        public Optional<Node> field(String key) {
            return Optional.ofNullable(object().get(key)).map(v -> new Node(path + "." + key, v));
        }

        /** A field's array; absent is empty. */
        public List<Node> items(String key, int max) {
            return field(key).map(field -> field.items(max)).orElse(List.of());
        }

        /**
         * As {@link #items(String, int)} of a field whose absence means all: an empty array would
         * mean none, which nothing can say, and is refused.
         */
        public List<Node> itemsOrAll(String key, int max) {
            List<Node> items = items(key, max);
            if (items.isEmpty() && field(key).isPresent()) {
                throw refuse(path + "." + key, "is empty; leave it out, or name what is meant");
            }
            return items;
        }

        /** The parts of an array. */
        public List<Node> items(int max) {
            if (!(value instanceof List<?> list)) {
                throw refuse(path, "must be an array");
            }
            if (list.size() > max) {
                throw refuse(path, "has more than " + max + " entries");
            }
            List<Node> items = new ArrayList<>();
            for (Object item : list) {
                items.add(new Node(path + "[" + items.size() + "]", item));
            }
            return items;
        }

        /** A text, read by a function whose complaint becomes the field's. */
        public <T> T text(Function<String, T> read) {
            if (!(value instanceof String text)) {
                throw refuse(path, "must be a text");
            }
            try {
                return read.apply(text);
            } catch (IllegalArgumentException e) {
                throw refuse(path, "\"" + shown(text) + "\": " + e.getMessage());
            }
        }

        public long number(long min, long max) {
            if (!(value instanceof Long number) || number < min || number > max) {
                throw refuse(path, "must be a whole number from " + min + " to " + max);
            }
            return number;
        }

        public boolean truth() {
            if (!(value instanceof Boolean truth)) {
                throw refuse(path, "must be true or false");
            }
            return truth;
        }

        private Map<?, ?> object() {
            if (!(value instanceof Map<?, ?> object)) {
                throw refuse(path, "must be an object");
            }
            return object;
        }

        private static String shown(String text) {
            String start = text.substring(0, Math.min(text.length(), SHOWN_CHARS_MAX));
            return start.replaceAll("\\p{Cntrl}", "?");
        }
    }
}
