package dev.space.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/specification.md names tests that are there, and every number that this release begins. */
final class SpecificationDocsTest {

    private static final List<String> NUMBERS =
            List.of(
                    "F1", "F2", "F3", "F6", "F7", "F11", "F12", "F13", "F14", "F15", "F16", "F18",
                    "F19", "F20", "F22", "F23", "F24", "F26", "F27", "F28", "F29", "F30", "F31",
                    "F32", "F33", "F34", "F35");

    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+)#(\\w+)`");
    private static final Pattern SCRIPT = Pattern.compile("`([a-z][a-z/-]*\\.sh)`");

    private final List<String> rows =
            Repository.read(Repository.root().resolve("docs/specification.md"))
                    .lines()
                    .filter(line -> line.startsWith("| F"))
                    .toList();

    @Test
    void everyNumberHasARowWithTests() {
        List<String> numbers = new ArrayList<>();
        for (String row : rows) {
            numbers.add(row.substring(2).split(" ", 2)[0]);
            String heldBy = row.split("\\|", -1)[3];
            assertThat(TEST.matcher(heldBy).find()).as("a test in the row: %s", row).isTrue();
        }
        assertThat(numbers).containsExactlyElementsOf(NUMBERS);
    }

    @Test
    void everyNamedTestIsThere() {
        Map<String, String> sources =
                Repository.sources(".java").stream()
                        .filter(p -> p.toString().contains("/src/test/"))
                        .collect(
                                Collectors.toMap(
                                        SpecificationDocsTest::simpleName,
                                        Repository::read,
                                        (one, another) -> one + another));
        List<String> missing = new ArrayList<>();
        for (String row : rows) {
            TEST.matcher(row)
                    .results()
                    .filter(m -> !isMethod(sources.getOrDefault(m.group(1), ""), m.group(2)))
                    .forEach(m -> missing.add(m.group()));
            SCRIPT.matcher(row)
                    .results()
                    .filter(m -> !Files.isExecutable(Repository.root().resolve(m.group(1))))
                    .forEach(m -> missing.add(m.group()));
        }
        assertThat(missing).as("tests that are named and not there").isEmpty();
    }

    private static boolean isMethod(String source, String name) {
        return Pattern.compile("(void|Stream<DynamicTest>) " + name + "\\(").matcher(source).find();
    }

    private static String simpleName(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.length() - ".java".length());
    }
}
