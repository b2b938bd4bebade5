package dev.space.node.egress;

import dev.space.model.SessionId;
import java.util.List;

/**
 * The gateway process as the node sees it. Calls are bounded in time and fail with any runtime
 * exception when it is away.
 */
public interface Gateway extends AutoCloseable {

    /** What holds for a slot. */
    record Binding(
            int slot,
            SessionId session,
            long epoch,
            NetworkPolicy policy,
            List<SyntheticAddress> addresses) {

        public Binding {
            addresses = List.copyOf(addresses);
        }
    }

    /** A binding that the gateway has. */
    record Bound(int slot, SessionId session, long epoch, long version) {}

    /** What the gateway tells by itself. */
    interface Events {

        /** The stream is there. */
        void connected();

        void address(SessionId session, long epoch, SyntheticAddress address);

        void audit(EgressRecord entry);
    }

    /** From now on; also instead of an older binding. Repeating it changes nothing. */
    void bind(Binding binding);

    /**
     * Returns when all connections are closed; answers the addresses. Repeating changes nothing.
     */
    List<SyntheticAddress> unbind(int slot, SessionId session, long epoch);

    List<Bound> list();

    List<SyntheticAddress> addresses(int slot);

    /** Returns, or fails, when the stream of events ends: then the gateway may have. */
    void follow(Events events);

    @Override
    void close();
}
