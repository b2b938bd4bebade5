package dev.space.node.egress;

import dev.space.model.SessionId;

/** Who knows what a session may reach. Fails with any runtime exception when it is away. */
@FunctionalInterface
public interface PolicySource {

    /** Without a control plane nothing may be reached, unless it is set. */
    PolicySource NOBODY = _ -> NetworkPolicy.NONE;

    NetworkPolicy of(SessionId session);
}
