package dev.space.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.WithDefault;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/configuration.md lists this process's keys with their defaults, and no other. */
final class ConfigurationDocsTest {
    private static final Path DOCUMENT = Path.of("..", "..", "docs", "configuration.md");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `([^`]+)` \\| (`[^`]*`|\\([a-z]+\\)) \\| (\\S.+) \\|$");

    @Test
    void documentListsEveryKeyWithItsDefault() throws IOException {
        String text = Files.readString(DOCUMENT);
        String block =
                text.substring(
                        text.indexOf("<!-- node keys: begin -->"),
                        text.indexOf("<!-- node keys: end -->"));
        Map<String, String> documented = new TreeMap<>();
        Matcher row = ROW.matcher(block);
        while (row.find()) {
            documented.put(row.group(1), row.group(2));
        }
        assertThat(documented).isEqualTo(defaults("space", NodeConfig.class));
    }

    private static Map<String, String> defaults(String prefix, Class<?> mapping) {
        Map<String, String> keys = new TreeMap<>();
        for (Method method : mapping.getMethods()) {
            String name = method.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            String key = prefix + "." + name;
            Class<?> type = method.getReturnType();
            WithDefault fallback = method.getAnnotation(WithDefault.class);
            if (type.getEnclosingClass() == NodeConfig.class) {
                keys.putAll(defaults(key, type));
            } else if (fallback != null) {
                keys.put(key, "`" + fallback.value() + "`");
            } else {
                keys.put(key, type == Optional.class ? "(none)" : "(required)");
            }
        }
        return keys;
    }
}
