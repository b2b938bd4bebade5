package dev.space.verification;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

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

    /**
     * Every file of the clone that a person wrote, tracked or not. What is built is not even looked
     * at: it is large, and changes while tests run.
     */
    static List<Path> sources() {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(root(), new Sources(found));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found.stream().sorted().toList();
    }

    static List<Path> sources(String ending) {
        return sources().stream().filter(p -> p.toString().endsWith(ending)).toList();
    }

    private static final class Sources extends SimpleFileVisitor<Path> {
        private final List<Path> found;

        Sources(List<Path> found) {
            this.found = found;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return NOT_SOURCES.contains(String.valueOf(directory.getFileName()))
                    ? FileVisitResult.SKIP_SUBTREE
                    : FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile()) {
                found.add(file);
            }
            return FileVisitResult.CONTINUE;
        }
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
