package dev.space.service.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Unknown keys are named with their nearest neighbour. */
class ConfigKeysTest {
    @Test
    void everyKeyOfTheMappingIsKnown() {
        assertThat(ConfigKeys.known())
                .contains(
                        "space.roles",
                        "space.database.url",
                        "space.database.password-file",
                        "space.temporal.namespace",
                        "space.node.token-file",
                        "space.control.env-key-file",
                        "space.control.bootstrap-key-file");
    }

    @Test
    void anUnknownKeyNamesItsNeighbour() {
        assertThat(
                        ConfigKeys.complaints(
                                List.of("space.database.ulr", "quarkus.http.port", "space.roles")))
                .singleElement()
                .asString()
                .contains("space.database.ulr")
                .contains("space.database.url");
    }
}
