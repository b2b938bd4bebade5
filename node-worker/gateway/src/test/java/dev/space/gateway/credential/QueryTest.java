package dev.space.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class QueryTest {

    @ParameterizedTest
    @CsvSource({
        "/a, /a?key=v",
        "/a?, /a?key=v",
        "/a?b=c, /a?b=c&key=v",
        "/a?key=mine&b=c&key, /a?b=c&key=v",
        "/a?%6bey=mine&b=%zz, /a?b=%zz&key=v",
    })
    void theParameterIsOursAlone(String before, String after) {
        assertThat(Query.with(before, "key", "v")).isEqualTo(after);
    }
}
