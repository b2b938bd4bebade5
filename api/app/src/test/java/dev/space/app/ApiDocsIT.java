package dev.space.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/api.md lists what the generated description has, and nothing else. */
class ApiDocsIT extends SharedPlatform {
    private static final Path DOCS = Path.of("../../docs/api.md");
    private static final Pattern ROW =
            Pattern.compile(
                    "\\| `((?:GET|POST|PUT|PATCH|DELETE)" + " /(?:operator/)?v1/[^`]*)` \\|(.*)");
    private static final Pattern NAME = Pattern.compile("`([a-zA-Z]+)`");

    /** Names in a row's query column that are values and not parameters. */
    private static final Set<String> VALUES = Set.of("stdout", "stderr");

    @Test
    void theTablesAreThoseOfTheDescription() throws IOException {
        assertThat(documented()).isEqualTo(described());
    }

    private static Map<String, Set<String>> described() throws IOException {
        Map<String, Set<String>> all = new TreeMap<>();
        JsonNode paths = ok(p().get("/openapi?format=json"), 200).get("paths");
        for (Map.Entry<String, JsonNode> path : paths.properties()) {
            for (Map.Entry<String, JsonNode> call : path.getValue().properties()) {
                String method = call.getKey().toUpperCase(Locale.ROOT);
                all.put(method + " " + path.getKey(), queries(call.getValue()));
            }
        }
        return all;
    }

    private static Set<String> queries(JsonNode call) {
        Set<String> names = new TreeSet<>();
        call.path("parameters")
                .forEach(parameter -> {
                    if (parameter.get("in").asText().equals("query")) {
                        names.add(parameter.get("name").asText());
                    }
                });
        return names;
    }

    private static Map<String, Set<String>> documented() throws IOException {
        Map<String, Set<String>> all = new TreeMap<>();
        for (String line : Files.readAllLines(DOCS)) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                String column = row.group(2).split("\\|", -1)[0];
                boolean hasQuery = !column.strip().matches("20\\d.*");
                all.put(
                        row.group(1),
                        NAME.matcher(hasQuery ? column : "")
                                .results()
                                .map(m -> m.group(1))
                                .filter(name -> !VALUES.contains(name))
                                .collect(Collectors.toCollection(TreeSet::new)));
            }
        }
        return all;
    }
}
