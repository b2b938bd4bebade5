package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a key may be written. */
final class SnapshotKeyCommandTest {

    @TempDir Path directory;

    @Test
    void onlyItsOwnerCanReadIt() throws IOException {
        Path file = directory.resolve("key");
        SnapshotKeyCommand.Export.create(file).close();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    /** A terminal and a pipe exist. */
    @Test
    void whatExistsIsNeverWritten() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("nowhere"));
        for (Path there : new Path[] {Path.of("/dev/stdout"), Path.of("/dev/tty"), link}) {
            assertThatThrownBy(() -> SnapshotKeyCommand.Export.create(there))
                    .isInstanceOf(PlatformException.class)
                    .hasMessageContaining("new file only");
        }
    }
}
