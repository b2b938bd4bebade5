package dev.space.model.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/lifecycle.md are those of the code. {@code -Ddocs.write} writes the block
 * instead of comparing it.
 */
final class LifecycleDocsTest {

    private static final String BEGIN = "<!-- generated: lifecycle tables -->\n";
    private static final String END = "<!-- end of generated: lifecycle tables -->";

    @Test
    void theGeneratedBlockIsWhatTheTableRenders() throws IOException {
        Path page = page();
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        assertThat(begin).as("begin marker").isNotNegative();
        assertThat(end).as("end marker").isGreaterThan(begin);
        String rendered = new LifecycleRenderer(LifecycleTable.STANDARD).render();
        if (System.getProperty("docs.write") != null) {
            Files.writeString(
                    page,
                    text.substring(0, begin + BEGIN.length()) + rendered + text.substring(end));
            return;
        }
        assertThat(text.substring(begin + BEGIN.length(), end)).isEqualTo(rendered);
    }

    private static Path page() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at.resolve("docs/lifecycle.md"))) {
                return at.resolve("docs/lifecycle.md");
            }
        }
        throw new AssertionError("no directory with docs/lifecycle.md above");
    }
}
