package dev.space.gateway.tcp;

import dev.space.gateway.net.Upstream;
import dev.space.gatewayapi.v1.Audit;
import dev.space.model.egress.EgressDecision;
import dev.space.model.egress.EgressReason;
import dev.space.model.egress.Evaluator;

/** What a connection knows of the slot that it came from. All calls are on the slot's loop. */
public interface Home {

    /** The policy of now, which may be another than when the connection began. */
    Evaluator evaluator();

    /** What the policy, and what is granted besides, say to a connection. */
    EgressDecision connect(Target target);

    /** Looks into TLS. */
    Interceptor interceptor();

    Upstream upstream();

    Timeouts timeouts();

    /** Whether one more request may be made now. */
    boolean takeRequest();

    /** Counts bytes of either direction; false when the session may move no more. */
    boolean moved(boolean up, int bytes);

    void connected();

    void requestRefused(EgressReason reason);

    /** A failure or refusal of the whole connection. */
    void refused(EgressReason reason);

    /** Keeps a record, or counts that there were too many. */
    void audit(Audit.Builder record);

    /** The connection is over; called once. */
    void left(GuestConnection connection);
}
