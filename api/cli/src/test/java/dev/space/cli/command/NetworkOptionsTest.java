package dev.space.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

/** Options to a policy; what a policy may say is the API's to check. */
class NetworkOptionsTest {

    private final NetworkOptions options = new NetworkOptions();

    @Test
    void withoutOptionsThereIsNoPolicy() {
        assertThat(options.policy()).isNull();
    }

    @Test
    void everyOptionIsARule() {
        options.hosts = List.of("pypi.org", "*.x.example:8443", "203.0.113.0/24:5432");
        options.privateHosts = List.of("db.internal.example:5432");
        options.presets = List.of("python");
        assertThat(options.policy())
                .hasToString(
                        "{\"allow\":[{\"host\":\"pypi.org\"},"
                                + "{\"host\":\"*.x.example\",\"ports\":[8443]},"
                                + "{\"cidr\":\"203.0.113.0/24\",\"ports\":[5432]},"
                                + "{\"host\":\"db.internal.example\",\"ports\":[5432],"
                                + "\"private\":true},{\"preset\":\"python\"}]}");
    }

    @Test
    void aPortIsANumber() {
        options.hosts = List.of("x.example:https");
        assertThatThrownBy(options::policy).isInstanceOf(TypeConversionException.class);
    }
}
