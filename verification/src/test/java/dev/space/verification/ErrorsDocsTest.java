package dev.space.verification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import org.junit.jupiter.api.Test;

/** docs/errors.md is the catalogue as the code has it. */
final class ErrorsDocsTest {

    private static final String BEGIN = "<!-- catalogue: begin -->\n";
    private static final String END = "<!-- catalogue: end -->";

    @Test
    void documentIsTheCatalogue() {
        String text = Repository.read(Repository.root().resolve("docs/errors.md"));
        String block = text.substring(text.indexOf(BEGIN) + BEGIN.length(), text.indexOf(END));
        assertThat(block).as("the block in docs/errors.md; put this there").isEqualTo(render());
    }

    private static String render() {
        StringBuilder out =
                new StringBuilder("| code | HTTP | again later | means |\n|---|---|---|---|\n");
        for (ErrorCode code : ErrorCode.values()) {
            String again = code.isRetryable() ? "yes" : "no";
            out.append(
                    "| `%s` | %d | %s | %s |%n"
                            .formatted(code.name(), code.httpStatus(), again, code.summary()));
        }
        return out.toString();
    }
}
