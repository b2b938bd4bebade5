package dev.space.privileged;

import dev.space.nativeabi.Descriptor;

/**
 * Two sockets in a slot's network namespace. Closed with this object, except for what was taken.
 *
 * @param listener TCP, bound and listening on {@link PrivilegedLimits#EGRESS_TCP_PORT},
 *     non-blocking
 * @param datagram UDP, bound to {@link PrivilegedLimits#EGRESS_DNS_PORT}, non-blocking
 */
public record SlotSockets(Descriptor listener, Descriptor datagram) implements AutoCloseable {

    @Override
    public void close() {
        listener.close();
        datagram.close();
    }
}
