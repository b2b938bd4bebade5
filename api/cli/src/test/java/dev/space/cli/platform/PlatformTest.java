package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class PlatformTest {

    private static Platform at(String data) {
        return Platform.of(Map.of("SPACE_CACHE", "/c"), Path.of(data), null);
    }

    @Test
    void everyDataDirectoryHasSocketsOfItsOwn() {
        assertThat(at("/var/lib/space").sockets()).isNotEqualTo(at("/tmp/other").sockets());
        assertThat(at("/tmp/a/../other").sockets()).isEqualTo(at("/tmp/other").sockets());
    }

    @Test
    void socketPathsStayShortHoweverDeepTheDataLie() {
        String deep = "/tmp/" + "x".repeat(200);
        assertThat(at(deep).sockets().resolve("manager/manager.sock").toString())
                .hasSizeLessThan(100);
    }

    @Test
    void optionsWinOverTheEnvironment() {
        Map<String, String> env = Map.of("SPACE_DATA", "/env", "SPACE_CONFIG", "/env.yaml");
        assertThat(Platform.of(env, null, null).data()).isEqualTo(Path.of("/env"));
        assertThat(Platform.of(env, Path.of("/opt"), null).data()).isEqualTo(Path.of("/opt"));
    }
}
