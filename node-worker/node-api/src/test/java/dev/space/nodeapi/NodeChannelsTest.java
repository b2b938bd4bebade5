package dev.space.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NodeChannelsTest {

    /** A channel in one state that counts how often it is told to try again at once. */
    private static final class InState extends ManagedChannel {
        private final ConnectivityState state;
        private int tries;

        InState(ConnectivityState state) {
            this.state = state;
        }

        @Override
        public ConnectivityState getState(boolean requestConnection) {
            return state;
        }

        @Override
        public void resetConnectBackoff() {
            tries++;
        }

        @Override
        public ManagedChannel shutdown() {
            return this;
        }

        @Override
        public ManagedChannel shutdownNow() {
            return this;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }

        @Override
        public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
            throw new UnsupportedOperationException("no call is made");
        }

        @Override
        public String authority() {
            return "node";
        }
    }

    private static int triesIn(ConnectivityState state) {
        InState channel = new InState(state);
        assertThat(NodeChannels.trying(channel)).isSameAs(channel);
        return channel.tries;
    }

    @Test
    void aCallToANodeThatWasAwayDoesNotWaitForTheChannelsOwnNextTry() {
        assertThat(triesIn(ConnectivityState.TRANSIENT_FAILURE)).isEqualTo(1);
        assertThat(triesIn(ConnectivityState.READY)).isZero();
        assertThat(triesIn(ConnectivityState.CONNECTING)).isZero();
        assertThat(triesIn(ConnectivityState.IDLE)).isZero();
    }
}
