package dev.space.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs are bounded in size and count while somebody goes on writing to them. */
final class LogRotationTest {

    private static final int BYTES_MAX = 1000;
    private static final int KEEP = 2;

    @TempDir Path logs = Path.of("");

    private final List<String> complaints = new ArrayList<>();

    private LogRotation rotation(int keep) {
        return new LogRotation(logs, BYTES_MAX, keep, complaints::add);
    }

    private static void write(OutputStream log, char what, int bytes) throws Exception {
        log.write(String.valueOf(what).repeat(bytes).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aLogThatIsShortStays() throws Exception {
        Files.writeString(logs.resolve("control.log"), "x".repeat(BYTES_MAX));
        rotation(KEEP).look();
        assertThat(names()).containsExactly("control.log");
    }

    @Test
    void theWriterGoesOnAtTheBeginningAndTheOldestIsForgotten() throws Exception {
        Path log = logs.resolve("control.log");
        try (OutputStream writer =
                Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            for (char what : new char[] {'a', 'b', 'c', 'd'}) {
                write(writer, what, BYTES_MAX + 1);
                rotation(KEEP).look();
            }
            write(writer, 'e', 3);
        }
        assertThat(names()).containsExactly("control.log", "control.log.1", "control.log.2");
        assertThat(log).hasContent("eee");
        assertThat(Files.readString(logs.resolve("control.log.1"))).matches("d{1000}");
        assertThat(Files.readString(logs.resolve("control.log.2"))).matches("c{1000}");
        assertThat(
                        PosixFilePermissions.toString(
                                Files.getPosixFilePermissions(logs.resolve("control.log.1"))))
                .isEqualTo("rw-------");
        assertThat(complaints).isEmpty();
    }

    @Test
    void ofALogGoneWildOnlyTheNewestPartIsKept() throws Exception {
        Files.writeString(logs.resolve("a.log"), "o".repeat(5 * BYTES_MAX) + "n".repeat(BYTES_MAX));
        rotation(KEEP).look();
        assertThat(Files.readString(logs.resolve("a.log.1"))).matches("n{1000}");
        assertThat(logs.resolve("a.log")).isEmptyFile();
    }

    @Test
    void keepingNoneCutsOnly() throws Exception {
        Files.writeString(logs.resolve("a.log"), "o".repeat(2 * BYTES_MAX));
        rotation(0).look();
        assertThat(names()).containsExactly("a.log");
        assertThat(logs.resolve("a.log")).isEmptyFile();
    }

    @Test
    void whatCannotBeCopiedIsCutAndToldOnceAndKeepsTheOlderOnes() throws Exception {
        Path inTheWay = Files.createDirectories(logs.resolve("a.log.new/x"));
        Files.writeString(logs.resolve("a.log.1"), "older");
        LogRotation rotation = rotation(KEEP);
        for (int i = 0; i < 3; i++) {
            Files.writeString(logs.resolve("a.log"), "o".repeat(2 * BYTES_MAX));
            Files.writeString(logs.resolve("b.log"), "o".repeat(2 * BYTES_MAX));
            rotation.look();
            assertThat(logs.resolve("a.log")).isEmptyFile();
            assertThat(logs.resolve("b.log")).isEmptyFile();
        }
        assertThat(inTheWay).exists();
        assertThat(logs.resolve("a.log.1")).hasContent("older");
        assertThat(logs.resolve("b.log.2")).exists();
        assertThat(complaints).singleElement().asString().contains("a.log was cut without a copy");
    }

    @Test
    void aDirectoryThatIsGoneIsToldAndEndsNothing() throws Exception {
        new LogRotation(logs.resolve("gone"), BYTES_MAX, KEEP, complaints::add).look();
        assertThat(complaints).singleElement().asString().contains("cannot be rotated");
    }

    private List<String> names() throws Exception {
        try (var all = Files.list(logs)) {
            return all.map(p -> String.valueOf(p.getFileName())).sorted().toList();
        }
    }
}
