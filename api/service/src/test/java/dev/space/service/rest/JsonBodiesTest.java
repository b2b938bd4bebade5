package dev.space.service.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Bodies of which nobody can say what was meant are refused, and told apart. */
class JsonBodiesTest {

    private final JsonBodies bodies = new JsonBodies(new ObjectMapper());

    private ForkRequest read(String body) {
        return bodies.read(
                        new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
                        ForkRequest.class)
                .value();
    }

    @Test
    void aWholeBodyIsRead() {
        assertThat(read("{\"count\":3}").count()).isEqualTo(3);
        assertThat(read("").count()).isNull();
    }

    @Test
    void aNumberIsNotCutToFit() {
        assertThatThrownBy(() -> read("{\"count\":1.5}"))
                .hasMessage("field count has a wrong type");
        assertThatThrownBy(() -> read("{\"count\":9999999999}")).hasMessageContaining("count");
    }

    @Test
    void aTextIsNoNumberAndHalfACharacterNoText() {
        assertThatThrownBy(() -> read("{\"count\":\"2\"}"))
                .hasMessage("field count has a wrong type");
        assertThatThrownBy(() -> read("{\"count\":\"\"}"))
                .hasMessage("field count has a wrong type");
        assertThatThrownBy(() -> read("{\"labels\":{\"a\":\"x\\ud800\"}}"))
                .hasMessage("field labels.a has a wrong type");
        assertThat(read("{\"labels\":{\"a\":\"\\ud83d\\ude00\"}}").labels())
                .containsEntry("a", "\ud83d\ude00");
    }

    @Test
    void aFieldThatIsThereTwiceIsRefused() {
        assertThatThrownBy(() -> read("{\"count\":1,\"count\":2}"))
                .hasMessageStartingWith("a field of the body is there twice");
        assertThatThrownBy(() -> read("{\"labels\":{\"a\":\"1\",\"a\":\"2\"}}"))
                .hasMessageStartingWith("a field of the body is there twice");
    }

    @Test
    void whatIsNoJsonIsToldWithItsPlaceAndNotBlamedOnAField() {
        for (String broken :
                new String[] {
                    "{\"snapshot\":\"a", "{\"snapshot\":\"a\" \"count\":1}", "{x}", "{}{"
                }) {
            assertThatThrownBy(() -> read(broken))
                    .as(broken)
                    .hasMessageMatching("the body is not valid JSON \\(line 1, column \\d+\\)");
        }
    }

    @Test
    void whatIsNoObjectIsRefused() {
        assertThatThrownBy(() -> read("null")).hasMessage("the body must be a JSON object");
        assertThatThrownBy(() -> read("[1]")).hasMessage("field (body) has a wrong type");
    }
}
