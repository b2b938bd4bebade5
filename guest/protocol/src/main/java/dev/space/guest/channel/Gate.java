package dev.space.guest.channel;

/**
 * While it is held, nothing is read from or written to the socket. Needed around QMP {@code stop}:
 * QEMU takes bytes from the guest's queue as the host reads, so reading from a stopped machine
 * makes the saved device state disagree with the saved memory. Closing it lets the traffic go on.
 */
public interface Gate extends AutoCloseable {

    @Override
    void close();
}
