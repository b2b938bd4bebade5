package dev.space.node.browse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The reader's answers, good and bad, from a script in its place; its own tests are in Rust. */
@Timeout(60)
final class DiskReaderTest {

    private static final ByteString ROOT = ByteString.copyFromUtf8("/");
    private static final ByteString ODD =
            ByteString.copyFrom("/a +%\u00ff\n", StandardCharsets.ISO_8859_1);

    @TempDir Path directory;
    private Path image;

    @BeforeEach
    void makeImage() throws IOException {
        image = Files.createFile(directory.resolve("disk"));
    }

    private DiskReader reader(String script) throws IOException {
        Path program = directory.resolve("reader");
        Files.writeString(program, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return new DiskReader(program);
    }

    @Test
    void anyNameGoesThereAndBack() throws IOException {
        DiskReader reader =
                reader(
                        "printf '{\"path\":\"%s\",\"kind\":\"file\",\"size\":7,\"mode\":420,"
                                + "\"owner\":\"user\",\"group\":\"user\",\"modifiedNanos\":5}\\n'"
                                + " \"$3\"");
        GuestFile file = reader.stat(image, ODD);
        assertThat(file.path()).isEqualTo(ODD);
        assertThat(file.name()).isEqualTo(ODD.substring(1));
        assertThat(file.size()).isEqualTo(7);
        assertThat(file.symlinkTarget()).isEqualTo(ByteString.EMPTY);
    }

    @Test
    void aChangeHasAllThatWasSaid() throws IOException {
        DiskReader reader =
                reader(
                        "echo '{\"change\":\"modified\",\"what\":[\"mode\",\"time\"],"
                                + "\"sha256\":\"ab\",\"path\":\"/x/y\",\"kind\":\"symlink\","
                                + "\"target\":\"..%2Fz\"}'; [ \"$7\" = hash ]");
        List<DiskReader.Change> all = new ArrayList<>();
        reader.changes(image, image, ROOT, 5, true, all::add);
        assertThat(all).hasSize(1);
        DiskReader.Change change = all.getFirst();
        assertThat(change.change()).isEqualTo("modified");
        assertThat(change.what()).containsExactly("mode", "time");
        assertThat(change.sha256()).isEqualTo("ab");
        assertThat(change.file().name().toStringUtf8()).isEqualTo("y");
        assertThat(change.file().symlinkTarget().toStringUtf8()).isEqualTo("../z");
    }

    @Test
    void eachExitCodeIsAnErrorOfItsOwn() throws IOException {
        Map<Integer, ErrorCode> expected =
                Map.of(
                        1, ErrorCode.INTERNAL,
                        2, ErrorCode.INTERNAL,
                        3, ErrorCode.FILE_NOT_FOUND,
                        4, ErrorCode.FILE_CONFLICT,
                        5, ErrorCode.FILE_CONFLICT,
                        6, ErrorCode.FILE_CONFLICT,
                        7, ErrorCode.DISK_UNREADABLE,
                        8, ErrorCode.DISK_UNREADABLE);
        for (Map.Entry<Integer, ErrorCode> one : expected.entrySet()) {
            DiskReader reader = reader("echo the reason >&2; exit " + one.getKey());
            assertThatThrownBy(() -> reader.stat(image, ROOT))
                    .hasMessageContaining("the reason")
                    .extracting(e -> ((SpaceException) e).code())
                    .isEqualTo(one.getValue());
        }
        assertRefused(reader("kill -9 $$"), ErrorCode.DISK_UNREADABLE);
        assertRefused(new DiskReader(directory.resolve("missing")), ErrorCode.INTERNAL);
    }

    private void assertRefused(DiskReader reader, ErrorCode code) {
        assertThatThrownBy(() -> reader.stat(image, ROOT))
                .extracting(e -> ((SpaceException) e).code())
                .isEqualTo(code);
    }

    @Test
    void whatIsNoAnswerIsRefusedAndNothingIsUnbounded() throws IOException {
        assertRefused(reader("echo this is no JSON"), ErrorCode.INTERNAL);
        assertRefused(reader("exit 0"), ErrorCode.INTERNAL);
        // A line without an end, and a complaint without one.
        assertRefused(reader("exec cat /dev/zero"), ErrorCode.INTERNAL);
        assertRefused(reader("head -c 9000000 /dev/zero >&2; exit 7"), ErrorCode.DISK_UNREADABLE);
    }

    @Test
    void aReaderThatNobodyWantsIsEnded() throws IOException {
        Path pid = directory.resolve("pid");
        DiskReader reader = reader("echo $$ >" + pid + "; while :; do echo more; done");
        assertThatThrownBy(() ->
                        reader.read(
                                image,
                                ROOT,
                                0,
                                9,
                                piece -> {
                                    throw new SpaceException(
                                            ErrorCode.UNAVAILABLE, "the reader went away");
                                }))
                .hasMessageContaining("went away");
        long process = Long.parseLong(Files.readString(pid).strip());
        ProcessHandle.of(process).ifPresent(p -> p.onExit().join());
        assertThat(ProcessHandle.of(process).filter(ProcessHandle::isAlive)).isEmpty();
    }
}
