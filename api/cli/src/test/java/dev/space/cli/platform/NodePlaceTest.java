package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Limits;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class NodePlaceTest {

    private static final Platform PLATFORM = Platform.of(Map.of(), Path.of("/data"), null);

    @Test
    void theFirstHasThePlainNames() {
        NodePlace first = new NodePlace(PLATFORM, 1);
        assertThat(first.services()).containsExactly("node-manager", "gateway", "node-worker");
        assertThat(first.id("local")).isEqualTo("local");
        assertThat(first.data()).isEqualTo(Path.of("/data/node"));
        assertThat(first.instance()).isEqualTo(PLATFORM.instance());
        assertThat(first.uidBase(61000)).isEqualTo(61000);
    }

    @Test
    void noTwoShareAnything() {
        List<Function<NodePlace, Object>> own =
                List.of(
                        p -> p.id("local"),
                        NodePlace::manager,
                        NodePlace::worker,
                        NodePlace::user,
                        NodePlace::role,
                        NodePlace::apiPort,
                        NodePlace::httpPort,
                        NodePlace::data,
                        NodePlace::image,
                        NodePlace::state,
                        NodePlace::stopped,
                        NodePlace::managerDirectory,
                        NodePlace::managerSocket,
                        NodePlace::managerGatewaySocket,
                        NodePlace::gateway,
                        NodePlace::gatewayUser,
                        NodePlace::gatewayPort,
                        NodePlace::gatewaySocket,
                        NodePlace::instance);
        for (Function<NodePlace, Object> what : own) {
            assertThat(NodePlace.all(PLATFORM).stream().map(what))
                    .hasSize(Limits.NODES_ON_MACHINE_MAX)
                    .doesNotHaveDuplicates();
        }
    }

    /** node-manager takes {@code [a-z0-9]{1,16}}, and none may be the beginning of another's. */
    @Test
    void tagsFitAndFindOnlyTheirOwn() {
        for (NodePlace place : NodePlace.all(PLATFORM)) {
            assertThat(place.instance()).matches("[a-z0-9]{1,16}");
            for (NodePlace other : NodePlace.all(PLATFORM)) {
                String namespace = "space-" + other.instance() + "-7";
                assertThat(namespace.startsWith("space-" + place.instance() + "-"))
                        .isEqualTo(place.equals(other));
            }
        }
    }

    @Test
    void uidsOfAllSlotsStayApartAndBelowNobody() {
        int next = 0;
        for (NodePlace place : NodePlace.all(PLATFORM)) {
            assertThat(place.uidBase(61000)).isGreaterThanOrEqualTo(next);
            next = place.uidBase(61000) + 1024;
        }
        assertThat(next).isLessThan(65534);
    }

    @Test
    void beyondTheLimitThereIsNone() {
        int tooMany = Limits.NODES_ON_MACHINE_MAX + 1;
        assertThatThrownBy(() -> new NodePlace(PLATFORM, tooMany))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
