package dev.space.model.lifecycle;

import dev.space.model.Command;
import dev.space.model.OperationKind;
import dev.space.model.SessionEvent;
import dev.space.model.SessionState;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes a table as Markdown with a Mermaid diagram: the generated block of docs/lifecycle.md. */
public final class LifecycleRenderer {

    private final LifecycleTable table;

    public LifecycleRenderer(LifecycleTable table) {
        this.table = table;
    }

    /** The whole block, without its markers. */
    public String render() {
        return String.join(
                "\n",
                diagram(),
                operations(),
                commands(),
                commandsInFlight(),
                events(),
                eventsInFlight());
    }

    private String diagram() {
        TreeSet<String> edges = new TreeSet<>();
        for (OperationKind kind : OperationKind.values()) {
            OperationRow row = table.operation(kind);
            for (SessionState from : row.from()) {
                SessionState to = row.to();
                if (to != null && to != from && kind != OperationKind.DESTROY) {
                    edges.add("    " + from + " --> " + to + ": " + kind);
                }
                SessionState failed = row.failed();
                if (failed != null && failed != from && kind != OperationKind.DESTROY) {
                    edges.add("    " + from + " --> " + failed + ": " + kind + " fails");
                }
            }
        }
        for (SessionState from : table.operation(OperationKind.DESTROY).from()) {
            edges.add("    " + from + " --> DESTROYED: DESTROY");
        }
        return "```mermaid\nstateDiagram-v2\n    [*] --> NEW\n"
                + String.join("\n", edges)
                + "\n    DESTROYED --> [*]\n```\n";
    }

    private String operations() {
        StringBuilder out =
                new StringBuilder("### Operations\n\n")
                        .append("| operation | from | to | when it fails | takes a new epoch |")
                        .append(" only forward after | in this release |\n")
                        .append("|---|---|---|---|---|---|---|\n");
        for (OperationKind kind : OperationKind.values()) {
            OperationRow row = table.operation(kind);
            String from =
                    row.from().stream()
                            .sorted(Comparator.naturalOrder())
                            .map(Enum::name)
                            .collect(Collectors.joining(", "));
            out.append(
                    line(
                            Stream.of(
                                    kind.name(),
                                    from,
                                    row.to() == null ? "same" : row.to().name(),
                                    row.failed() == null ? "same" : row.failed().name(),
                                    row.startsVm() ? "yes" : "no",
                                    row.noReturn().isEmpty() ? "–" : row.noReturn(),
                                    LifecycleTable.AVAILABLE.contains(kind) ? "yes" : "no")));
        }
        return out.toString();
    }

    private String commands() {
        return grid(
                "### Command in a stable state",
                "state",
                SessionState.values(),
                Command.values(),
                s -> c -> table.stableCell(s, c).text());
    }

    private String commandsInFlight() {
        return grid(
                "### Command while an operation is in flight",
                "in flight",
                OperationKind.values(),
                Command.values(),
                o -> c -> table.inFlightCell(o, c).text());
    }

    private String events() {
        return grid(
                "### Event in a stable state",
                "state",
                SessionState.values(),
                SessionEvent.values(),
                s -> e -> table.event(s, e).text());
    }

    private String eventsInFlight() {
        return grid(
                "### Event while an operation is in flight",
                "in flight",
                OperationKind.values(),
                SessionEvent.values(),
                o -> e -> table.event(o, e).text());
    }

    private static <R extends Enum<R>, C extends Enum<C>> String grid(
            String title,
            String corner,
            R[] rows,
            C[] columns,
            Function<R, Function<C, String>> at) {
        StringBuilder out = new StringBuilder(title).append("\n\n");
        List<String> names = Arrays.stream(columns).map(LifecycleRenderer::words).toList();
        out.append(line(Stream.concat(Stream.of(corner), names.stream())));
        out.append(line(Stream.generate(() -> "---").limit(columns.length + 1L)));
        for (R row : rows) {
            Function<C, String> cell = at.apply(row);
            out.append(
                    line(Stream.concat(Stream.of(row.name()), Arrays.stream(columns).map(cell))));
        }
        return out.toString();
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static String line(Stream<String> cells) {
        return cells.collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
