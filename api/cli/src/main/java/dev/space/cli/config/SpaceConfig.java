package dev.space.cli.config;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.space.model.NearestKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The values of all keys: those of the file, else the defaults. Read once at start. */
public final class SpaceConfig {

    /** A configuration file is a page, not a data set. */
    private static final long FILE_BYTES_MAX = 1 << 20;

    /** What is read where nobody names a file. */
    public static final Path FILE_DEFAULT = Path.of("/etc/space/space.yaml");

    private static final YAMLMapper YAML =
            YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

    private final Map<ConfigKey, String> values;

    private SpaceConfig(Map<ConfigKey, String> values) {
        this.values = values;
    }

    public static SpaceConfig defaults() {
        return new SpaceConfig(new EnumMap<>(ConfigKey.class));
    }

    /** Reads the file. Only the usual one may be missing: whoever names another one means it. */
    public static SpaceConfig load(Path file) {
        if (!Files.exists(file)) {
            if (file.equals(FILE_DEFAULT)) {
                return defaults();
            }
            throw new ConfigException(
                    file + " is not there; it was named by --config or SPACE_CONFIG");
        }
        try {
            if (Files.size(file) > FILE_BYTES_MAX) {
                throw new ConfigException(file + " is larger than 1 MiB");
            }
            return parse(file.toString(), Files.readString(file));
        } catch (IOException e) {
            throw new ConfigException("cannot read " + file + ": " + e.getMessage());
        }
    }

    static SpaceConfig parse(String name, String yaml) {
        Map<ConfigKey, String> values = new EnumMap<>(ConfigKey.class);
        try {
            JsonNode root = YAML.readTree(yaml);
            if (root != null && !root.isMissingNode() && !root.isNull()) {
                if (!root.isObject()) {
                    throw new ConfigException(
                            name
                                    + " must hold keys and values, such as \"space.node.slots: 8\","
                                    + " not a list or a single value");
                }
                flatten(name, "", root, values);
            }
        } catch (IOException e) {
            throw new ConfigException(name + " is not YAML: " + firstLine(e));
        }
        return new SpaceConfig(values);
    }

    private static void flatten(
            String file, String prefix, JsonNode node, Map<ConfigKey, String> out) {
        if (node.isObject()) {
            node.properties()
                    .forEach(e -> {
                        String key = prefix.isEmpty() ? e.getKey() : prefix + "." + e.getKey();
                        flatten(file, key, e.getValue(), out);
                    });
            return;
        }
        if (node.isNull() && isSection(prefix)) {
            return; // All that was in it is commented out.
        }
        ConfigKey key =
                ConfigKey.of(prefix)
                        .orElseThrow(() ->
                                new ConfigException(
                                        complaint(prefix)
                                                + " in "
                                                + file
                                                + " (docs/configuration.md lists all)"));
        if (node.isNull()) {
            throw new ConfigException(
                    prefix + " in " + file + " has no value; leave it out for its default");
        }
        String value = text(node);
        if (!key.type().accepts(value)) {
            throw new ConfigException(
                    "%s in %s is \"%s\" but must be %s"
                            .formatted(prefix, file, value, key.type().words()));
        }
        if (out.put(key, value) != null) {
            throw new ConfigException(prefix + " is set twice in " + file);
        }
    }

    private static boolean isSection(String prefix) {
        return Arrays.stream(ConfigKey.values()).anyMatch(k -> k.key().startsWith(prefix + "."));
    }

    private static String text(JsonNode node) {
        if (!node.isArray()) {
            return node.asText();
        }
        List<String> items = new ArrayList<>();
        node.forEach(item -> items.add(item.asText()));
        return String.join(",", items);
    }

    private static String firstLine(IOException e) {
        String message = e.getMessage();
        return message == null ? "unreadable" : message.lines().findFirst().orElse("unreadable");
    }

    private static String complaint(String key) {
        return NearestKey.complaint(
                key, Arrays.stream(ConfigKey.values()).map(ConfigKey::key).toList());
    }

    public String text(ConfigKey key) {
        return values.getOrDefault(key, key.fallback());
    }

    public int number(ConfigKey key) {
        return Integer.parseInt(text(key));
    }

    public boolean isSet(ConfigKey key) {
        return values.containsKey(key);
    }
}
