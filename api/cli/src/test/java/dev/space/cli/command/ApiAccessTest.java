package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.client.ApiException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What people put into the two variables by mistake is told in words. */
final class ApiAccessTest {

    private static final String KEY = "space_" + "0".repeat(40);
    private final Platform nowhere = Platform.of(Map.of(), Path.of("/nonexistent"), null);

    private void open(String url, String key) {
        ApiAccess.open(nowhere, Map.of("SPACE_API_URL", url, "SPACE_API_KEY", key)).close();
    }

    @Test
    void anAddressAndAKeyAreTaken() {
        assertThatCode(() -> open("http://127.0.0.1:7400", KEY)).doesNotThrowAnyException();
        assertThatCode(() -> open("https://space.example/", KEY + "\n")).doesNotThrowAnyException();
    }

    @Test
    void whatIsNoAddressIsToldSo() {
        for (String wrong :
                new String[] {"localhost:7400", "127.0.0.1:7400", "file:///x", "http:"}) {
            assertThatThrownBy(() -> open(wrong, KEY))
                    .as(wrong)
                    .isInstanceOfAny(ApiException.class, PlatformException.class)
                    .hasMessageContaining(wrong)
                    .hasMessageContaining("no address");
        }
        assertThatThrownBy(() -> open("http://bad host", KEY)).hasMessageContaining("no address");
    }

    @Test
    void whatIsNoKeyIsToldWithoutShowingIt() {
        assertThatThrownBy(() -> open("http://127.0.0.1:7400", "space_a\nb"))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("API key")
                .hasMessageNotContaining("space_a");
    }

    @Test
    void anEmptyVariableIsNone() {
        assertThatThrownBy(() -> open(" ", KEY)).hasMessageContaining("no platform was started");
    }
}
