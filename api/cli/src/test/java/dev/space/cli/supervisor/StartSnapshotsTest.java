package dev.space.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node is never made to wait for a template that nobody builds. */
final class StartSnapshotsTest {

    @TempDir Path dir = Path.of("");

    private void built(String name) throws Exception {
        Path templates = dir.resolve("templates");
        Files.createDirectories(dir.resolve("names"));
        Files.createDirectories(templates.resolve("digest-" + name));
        Files.writeString(templates.resolve("digest-" + name).resolve("template.json"), "{}");
        Files.writeString(dir.resolve("names").resolve(name), "digest-" + name + "\n");
    }

    private String of(String yaml) throws Exception {
        Path file = dir.resolve("space.yaml");
        Files.writeString(file, yaml);
        Platform platform =
                Platform.of(
                        Map.of(
                                "SPACE_CACHE",
                                dir.toString(),
                                "SPACE_TEMPLATE_NAMES",
                                dir.resolve("names").toString()),
                        dir,
                        file);
        return StartSnapshots.of(platform, SpaceConfig.load(file));
    }

    @Test
    void theDefaultTemplateWhereItIsBuilt() throws Exception {
        built("default");
        built("minimal");
        assertThat(of("")).isEqualTo("default:small");
    }

    @Test
    void elseTheOneThatIsBuilt() throws Exception {
        built("minimal");
        assertThat(of("")).isEqualTo("minimal:small");
    }

    @Test
    void whatIsConfiguredIsTakenAsItIs() throws Exception {
        built("default");
        built("minimal");
        assertThat(of("space.node.prepare: [minimal:xs, default:small]"))
                .isEqualTo("minimal:xs,default:small");
    }

    @Test
    void aConfiguredTemplateThatIsNotBuiltIsToldWithTheNextStep() throws Exception {
        built("minimal");
        assertThatThrownBy(() -> of("space.node.prepare: [default:small]"))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("template default, which is not built (built: minimal)")
                .hasMessageContaining("SPACE_TEMPLATES=default ./space prepare")
                .hasMessageContaining("set space.node.prepare: [minimal:small]");
    }

    @Test
    void nothingBuiltAtAllIsToldToo() {
        assertThatThrownBy(() -> of(""))
                .hasMessageContaining("(built: none)")
                .hasMessageContaining("SPACE_TEMPLATES=default ./space prepare");
    }

    @Test
    void anUnknownSizeNamesTheKnownOnes() throws Exception {
        built("minimal");
        assertThatThrownBy(() -> of("space.node.prepare: [minimal:huge]"))
                .hasMessageContaining("minimal:huge")
                .hasMessageContaining("small");
        assertThatThrownBy(() -> of("space.node.prepare: [minimal]"))
                .hasMessageContaining("template:size");
    }

    @Test
    void theFakeEngineNeedsNoTemplate() throws Exception {
        assertThat(of("space.node.engine: fake")).isEqualTo("default:small");
    }
}
