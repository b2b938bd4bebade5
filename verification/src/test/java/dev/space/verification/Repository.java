package dev.space.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The clone that is being tested: its root, its modules, its files. */
public final class Repository {

    private static final Set<String> NOT_SOURCES =
            Set.of("target", ".git", ".space", "node_modules");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private Repository() {}

    public static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.exists(at.resolve("space"))) {
            at = at.getParent();
        }
        if (at == null) {
            throw new IllegalStateException("no repository around " + Path.of("").toAbsolutePath());
        }
        return at;
    }

    /** Maven modules as the root pom lists them. */
    static List<String> modules() {
        return MODULE.matcher(read(root().resolve("pom.xml")))
                .results()
                .map(m -> m.group(1))
                .toList();
    }

    /** Every file of the clone that a person wrote, tracked or not. */
    static List<Path> sources() {
        try (Stream<Path> all = Files.find(root(), 40, (p, a) -> a.isRegularFile())) {
            return all.filter(Repository::isSource).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> sources(String ending) {
        return sources().stream().filter(p -> p.toString().endsWith(ending)).toList();
    }

    private static boolean isSource(Path file) {
        for (Path part : root().relativize(file)) {
            if (NOT_SOURCES.contains(part.toString())) {
                return false;
            }
        }
        return true;
    }

    static String relative(Path file) {
        return root().relativize(file).toString();
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
