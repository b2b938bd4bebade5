package dev.space.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers and engines that somebody changed in the cache are found. */
final class FetchedFilesTest {

    private static final String SHA_OF_ONE =
            "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

    @TempDir Path cache = Path.of("");

    private void server(String content) throws Exception {
        Path server = Files.createDirectories(cache.resolve("servers/temporal-1"));
        Files.writeString(server.resolve("temporal"), content);
        Files.writeString(server.resolve(".space-sha256"), SHA_OF_ONE + "  ./temporal\n");
    }

    private void bundle(String content) throws Exception {
        Path bundle = Files.createDirectories(cache.resolve("bundles/b1/boot"));
        Files.writeString(bundle.resolve("vmlinux"), content);
        Files.writeString(
                cache.resolve("bundles/b1/bundle.json"),
                "{\"files\":{\"boot/vmlinux\":\"" + SHA_OF_ONE + "\"}}");
        Path template = Files.createDirectories(cache.resolve("templates/t1"));
        Files.writeString(template.resolve("template.json"), "{\"bundle\":\"b1\"}");
    }

    @Test
    void anEmptyCacheIsNoFault() {
        assertThat(new FetchedFiles(cache).look().level()).isEqualTo(Finding.Level.NOTE);
    }

    @Test
    void whatIsAsItWasRecordedIsGood() throws Exception {
        server("one");
        bundle("one");
        Finding finding = new FetchedFiles(cache).look();
        assertThat(finding.level()).isEqualTo(Finding.Level.OK);
        assertThat(finding.text()).startsWith("2 server and engine files");
    }

    @Test
    void aChangedServerIsNamed() throws Exception {
        server("two");
        Finding finding = new FetchedFiles(cache).look();
        assertThat(finding.level()).isEqualTo(Finding.Level.FAULT);
        assertThat(finding.text()).contains("servers/temporal-1/temporal");
        assertThat(finding.mend()).contains("./space up");
    }

    @Test
    void aChangedKernelIsNamed() throws Exception {
        bundle("two");
        assertThat(new FetchedFiles(cache).look().text()).contains("bundles/b1/boot/vmlinux");
        Files.delete(cache.resolve("bundles/b1/boot/vmlinux"));
        assertThat(new FetchedFiles(cache).look().level()).isEqualTo(Finding.Level.FAULT);
    }
}
