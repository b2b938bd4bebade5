package dev.space.gateway.net;

import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The addresses of this machine's interfaces, looked up again when they are some seconds old. */
public final class ThisMachine implements IntPredicate {

    private static final Logger LOG = LoggerFactory.getLogger(ThisMachine.class);
    private static final long FRESH_NANOS = 10_000_000_000L;

    private record Look(Set<Integer> addresses, long atNanos) {}

    private volatile Look last = look(Set.of());

    @Override
    public boolean test(int address) {
        Look known = last;
        if (System.nanoTime() - known.atNanos > FRESH_NANOS) {
            known = look(known.addresses);
            last = known;
        }
        return known.addresses.contains(address);
    }

    /** What was known before stays known where the kernel does not answer. */
    private static Look look(Set<Integer> before) {
        try {
            Set<Integer> now =
                    NetworkInterface.networkInterfaces()
                            .flatMap(i -> i.getInterfaceAddresses().stream())
                            .map(InterfaceAddress::getAddress)
                            .filter(Inet4Address.class::isInstance)
                            .map(a -> ByteBuffer.wrap(a.getAddress()).getInt())
                            .collect(Collectors.toSet());
            return new Look(now, System.nanoTime());
        } catch (SocketException e) {
            LOG.warn("the machine's addresses cannot be listed: {}", e.getMessage());
            return new Look(before, System.nanoTime());
        }
    }
}
