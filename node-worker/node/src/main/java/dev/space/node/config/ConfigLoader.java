package dev.space.node.config;

import dev.space.model.NearestKey;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.io.Reader;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads the process's one properties file into {@link NodeConfig}. */
public final class ConfigLoader {

    private static final Pattern NODE_ID = Pattern.compile("[a-z0-9-]{1,40}");
    private static final int ORDINAL = 100;

    private ConfigLoader() {}

    /** Fails with a sentence for the operator when a key is unknown or a value is not possible. */
    public static NodeConfig load(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            properties.load(in);
        }
        Set<String> known = keys();
        for (String key : properties.stringPropertyNames()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException(NearestKey.complaint(key, known));
            }
        }
        NodeConfig config =
                new SmallRyeConfigBuilder()
                        .addDefaultInterceptors()
                        .withSources(
                                new PropertiesConfigSource(properties, file.toString(), ORDINAL))
                        .withMapping(NodeConfig.class)
                        .build()
                        .getConfigMapping(NodeConfig.class);
        if (!NODE_ID.matcher(config.node().id()).matches()) {
            throw new IllegalArgumentException(
                    "space.node.id has 1 to 40 small letters, digits and dashes");
        }
        return config;
    }

    /** Every key of the mapping. */
    public static Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        collect(
                NodeConfig.class.getAnnotation(ConfigMapping.class).prefix(),
                NodeConfig.class,
                keys);
        return keys;
    }

    private static void collect(String prefix, Class<?> mapping, Set<String> keys) {
        for (Method method : mapping.getDeclaredMethods()) {
            String key = prefix + "." + kebab(method.getName());
            Class<?> type = method.getReturnType();
            if (type.isInterface() && type.getEnclosingClass() == NodeConfig.class) {
                collect(key, type, keys);
            } else {
                keys.add(key);
            }
        }
    }

    private static String kebab(String camel) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < camel.length(); i++) {
            char c = camel.charAt(i);
            if (Character.isUpperCase(c)) {
                out.append('-').append(Character.toLowerCase(c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
