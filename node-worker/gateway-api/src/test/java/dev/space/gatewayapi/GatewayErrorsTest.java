package dev.space.gatewayapi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GatewayErrorsTest {

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void everyCodeArrives(ErrorCode code) {
        SpaceException arrived =
                GatewayErrors.toException(
                        GatewayErrors.toStatus(new SpaceException(code, "x".repeat(2000))));
        assertThat(arrived.code()).isEqualTo(code);
        assertThat(arrived.getMessage()).hasSize(1000);
    }

    @Test
    void whatHasNoCodeMayBeSentAgain() {
        SpaceException failure = GatewayErrors.toException(Status.UNAVAILABLE.asRuntimeException());
        assertThat(failure.code()).isEqualTo(ErrorCode.UNAVAILABLE);
        assertThat(failure.getMessage()).contains("the network gateway does not answer");
    }
}
