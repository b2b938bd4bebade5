package dev.space.cli.config;

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

    private final Map<ConfigKey, String> values;

    private SpaceConfig(Map<ConfigKey, String> values) {
        this.values = values;
    }

    public static SpaceConfig defaults() {
        return new SpaceConfig(new EnumMap<>(ConfigKey.class));
    }

    /** Reads the file; a file that is not there means defaults. */
    public static SpaceConfig load(Path file) {
        if (!Files.exists(file)) {
            return defaults();
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
            JsonNode root = new YAMLMapper().readTree(yaml);
            if (root != null && !root.isMissingNode() && !root.isNull()) {
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
        ConfigKey key =
                ConfigKey.of(prefix)
                        .orElseThrow(() ->
                                new ConfigException(
                                        complaint(prefix)
                                                + " in "
                                                + file
                                                + " (docs/configuration.md lists all)"));
        String value = text(node);
        if (!key.type().accepts(value)) {
            throw new ConfigException(
                    "%s in %s is \"%s\" but must be %s"
                            .formatted(prefix, file, value, key.type().words()));
        }
        out.put(key, value);
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
