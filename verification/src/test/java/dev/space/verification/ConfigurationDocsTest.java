package dev.space.verification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.cli.config.ConfigKey;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** docs/configuration.md lists every key as the code has it, and no other. */
final class ConfigurationDocsTest {

    private static final String BEGIN = "<!-- keys: begin -->\n";
    private static final String END = "<!-- keys: end -->";

    @Test
    void documentListsEveryKey() {
        Path file = Repository.root().resolve("docs/configuration.md");
        String text = Repository.read(file);
        String block = text.substring(text.indexOf(BEGIN) + BEGIN.length(), text.indexOf(END));
        assertThat(block)
                .as("the block in docs/configuration.md; put this there")
                .isEqualTo(render());
    }

    private static String render() {
        StringBuilder out =
                new StringBuilder("| key | value | default | meaning |\n|---|---|---|---|\n");
        for (ConfigKey key : ConfigKey.values()) {
            String fallback = key.fallback().isEmpty() ? "(empty)" : "`" + key.fallback() + "`";
            out.append(
                    "| `%s` | %s | %s | %s |%n"
                            .formatted(key.key(), key.type().words(), fallback, key.meaning()));
        }
        return out.toString();
    }
}
