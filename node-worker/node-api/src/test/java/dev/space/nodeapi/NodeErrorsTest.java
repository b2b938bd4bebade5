package dev.space.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import org.junit.jupiter.api.Test;

final class NodeErrorsTest {

    private static ErrorCode read(StatusRuntimeException answer) {
        return NodeErrors.toException(answer, "one").code();
    }

    private static StatusRuntimeException internal(String description) {
        return Status.INTERNAL.withDescription(description).asRuntimeException();
    }

    @Test
    void aCallThatWasNeverBegunMayBeRepeated() {
        assertThat(read(internal("Half-closed without a request")))
                .isEqualTo(ErrorCode.NODE_UNREACHABLE);
        assertThat(read(internal("something else"))).isEqualTo(ErrorCode.INTERNAL);
    }

    @Test
    void aCodeOfTheCatalogueComesThroughWhateverTheTextIs() {
        SpaceException failure =
                new SpaceException(ErrorCode.INTERNAL, "Half-closed without a request");
        assertThat(read(NodeErrors.toStatus(failure))).isEqualTo(ErrorCode.INTERNAL);
        SpaceException gone = new SpaceException(ErrorCode.SNAPSHOT_NOT_FOUND, "gone");
        assertThat(read(NodeErrors.toStatus(gone))).isEqualTo(ErrorCode.SNAPSHOT_NOT_FOUND);
    }
}
