package dev.space.gateway.slot;

import java.io.IOException;

/** Where a slot's sockets come from: node-manager, who opens them in the slot's namespace. */
public interface SocketSource {

    /**
     * Descriptors that are this process's own from now on.
     *
     * @param tcp a listener
     * @param dns a bound UDP socket
     */
    record Sockets(int tcp, int dns) {}

    /** New sockets of a slot; those issued before must be closed. */
    Sockets issue(int slot) throws IOException;
}
