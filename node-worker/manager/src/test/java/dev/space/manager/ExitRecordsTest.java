package dev.space.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records as space-jail writes them, whole and cut off. */
class ExitRecordsTest {

    @TempDir Path directory;

    private void write(String name, String text, long millis) throws Exception {
        Files.writeString(directory.resolve(name), text);
        Path log = Files.writeString(directory.resolve(name + ".log"), "qemu: said something");
        Files.setLastModifiedTime(log, FileTime.fromMillis(millis));
    }

    @Test
    void endsAreRead() throws Exception {
        ExitRecords records = new ExitRecords(directory);
        write("3-10", "vm ses_a\npid 77\ncode 1\n", 1000);
        write("3-9", "vm ses_b\npid 78\nsignal 9\n", 2000);
        write("3-11", "vm ses_c\npid 79\n", 500);
        write("3-12", "", 400);
        write("31-1", "vm ses_d\npid 80\n", 9000);
        assertThat(records.read(3, 10).orElseThrow().end()).contains(new ExitRecords.End(false, 1));
        assertThat(records.read(3, 9).orElseThrow().end()).contains(new ExitRecords.End(true, 9));
        assertThat(records.read(3, 11).orElseThrow().end()).isEmpty();
        assertThat(records.read(3, 12).orElseThrow().pid()).isZero();
        assertThat(records.read(3, 13)).isEmpty();
        assertThat(records.newest(3).orElseThrow().directory()).isEqualTo("ses_b");
        assertThat(records.newest(4)).isEmpty();
        assertThat(records.startIds(3)).containsExactly(9L, 10L, 11L, 12L);
        assertThat(records.message(3, 10)).isEqualTo("qemu: said something");
        records.delete(3, 10);
        assertThat(records.startIds(3)).containsExactly(9L, 11L, 12L);
    }
}
