package dev.space.verification;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What keeps the code readable and no compiler checks. */
final class TidyTest {

    private static final int FILE_LINES_MAX = 500;
    private static final int METHOD_LINES_MAX = 70;

    /**
     * The formatter holds code at 100; what it does not break (strings, tables, shell) gets this.
     */
    private static final int LINE_CHARS_MAX = 120;

    /** A table written as one method: cutting it would hide that it is one. */
    private static final Pattern TABLE = Pattern.compile("Rows\\.java$");

    private static final long FILE_BYTES_MAX = 256 << 10;
    private static final Pattern UNFINISHED = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)#\\s]+)(#[^)]*)?\\)");

    private static List<Path> code() {
        return Stream.of(".java", ".rs", ".sh", ".proto", ".sql")
                .flatMap(ending -> Repository.sources(ending).stream())
                .toList();
    }

    @Test
    void filesAndLinesAreShort() {
        List<String> faults = new ArrayList<>();
        for (Path file : code()) {
            List<String> lines = Repository.read(file).lines().toList();
            if (lines.size() > FILE_LINES_MAX) {
                faults.add(Repository.relative(file) + " has " + lines.size() + " lines");
            }
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i);
                if (line.length() > LINE_CHARS_MAX
                        && !line.startsWith("import ")
                        && !line.contains("://")) {
                    faults.add(Repository.relative(file) + ":" + (i + 1) + " is too long");
                }
            }
        }
        assertThat(faults).isEmpty();
    }

    @Test
    void methodsFitOnAScreen() throws IOException {
        List<String> faults = new ArrayList<>();
        for (Path file : Repository.sources(".java")) {
            faults.addAll(longMethods(file));
        }
        assertThat(faults).isEmpty();
    }

    private static List<String> longMethods(Path file) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavacTask task =
                (JavacTask)
                        compiler.getTask(
                                null,
                                null,
                                _ -> {},
                                List.of("-proc:none"),
                                null,
                                List.of(source(file)));
        List<String> faults = new ArrayList<>();
        SourcePositions positions = Trees.instance(task).getSourcePositions();
        for (CompilationUnitTree unit : task.parse()) {
            new TreeScanner<@Nullable Void, @Nullable Void>() {
                @Override
                public @Nullable Void visitMethod(MethodTree method, @Nullable Void unused) {
                    long from = positions.getStartPosition(unit, method);
                    long to = positions.getEndPosition(unit, method);
                    long lines =
                            unit.getLineMap().getLineNumber(to)
                                    - unit.getLineMap().getLineNumber(from)
                                    + 1;
                    if (lines > METHOD_LINES_MAX && !TABLE.matcher(file.toString()).find()) {
                        faults.add(
                                Repository.relative(file)
                                        + " "
                                        + method.getName()
                                        + ": "
                                        + lines
                                        + " lines");
                    }
                    return super.visitMethod(method, null);
                }
            }.scan(unit, null);
        }
        return faults;
    }

    private static SimpleJavaFileObject source(Path file) {
        return new SimpleJavaFileObject(
                URI.create("string:///" + file.getFileName()), SimpleJavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return Repository.read(file);
            }
        };
    }

    @Test
    void everyModuleIntroducesItself() {
        List<String> faults = new ArrayList<>();
        for (String module : Repository.modules()) {
            Path at = Repository.root().resolve(module);
            if (!Files.exists(at.resolve("README.md"))) {
                faults.add(module + " has no README.md");
            }
        }
        for (Path file : Repository.sources(".java")) {
            Path directory = file.getParent();
            boolean main = file.toString().contains("/src/main/java/");
            if (main
                    && directory != null
                    && !Files.exists(directory.resolve("package-info.java"))) {
                faults.add(Repository.relative(directory) + " has no package-info.java");
            }
        }
        assertThat(faults.stream().distinct()).isEmpty();
    }

    @Test
    void nothingIsLeftForLater() {
        assertThat(code().stream().filter(p -> !p.endsWith("TidyTest.java")))
                .allSatisfy(file ->
                        assertThat(Repository.read(file)).doesNotContainPattern(UNFINISHED));
    }

    @Test
    void testsNeitherSleepNorHide() {
        Pattern banned = Pattern.compile("@" + "Disabled|Thread" + "\\.sleep\\(");
        List<Path> tests =
                Repository.sources(".java").stream()
                        .filter(p -> p.toString().contains("/src/test/"))
                        .toList();
        assertThat(tests)
                .allSatisfy(file ->
                        assertThat(Repository.read(file))
                                .as("%s: await a condition; mend or remove", file)
                                .doesNotContainPattern(banned));
    }

    @Test
    void noLargeBlobs() throws IOException {
        for (Path file : Repository.sources()) {
            assertThat(Files.size(file)).as(Repository.relative(file)).isLessThan(FILE_BYTES_MAX);
        }
    }

    @Test
    void linksInDocumentsLeadSomewhere() {
        List<String> dead = new ArrayList<>();
        for (Path file : Repository.sources(".md")) {
            LINK.matcher(Repository.read(file))
                    .results()
                    .map(m -> m.group(1))
                    .filter(target -> !target.contains("://") && !target.startsWith("mailto:"))
                    .filter(target -> !Files.exists(file.resolveSibling(target)))
                    .forEach(target -> dead.add(Repository.relative(file) + " → " + target));
        }
        assertThat(dead).isEmpty();
    }
}
