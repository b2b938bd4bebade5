package dev.space.gateway.tcp;

import io.netty.channel.Channel;
import io.netty.channel.unix.RawUnixChannelOption;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Where a connection was going before the packet filter turned it here. */
@FunctionalInterface
public interface OriginalDestination {

    /** An address and port. */
    record Place(int address, int port) {}

    /** Fails where the kernel knows of no redirection. */
    Place of(Channel channel) throws IOException;

    /** From the kernel's connection tracking: {@code struct sockaddr_in} of SO_ORIGINAL_DST. */
    OriginalDestination KERNEL =
            new OriginalDestination() {
                private static final int SOL_IP = 0;
                private static final int SO_ORIGINAL_DST = 80;
                private static final int SOCKADDR_IN_BYTES = 16;

                private final RawUnixChannelOption option =
                        new RawUnixChannelOption(
                                "SO_ORIGINAL_DST", SOL_IP, SO_ORIGINAL_DST, SOCKADDR_IN_BYTES);

                @Override
                public Place of(Channel channel) throws IOException {
                    ByteBuffer address = channel.config().getOption(option);
                    if (address == null || address.remaining() < 8) {
                        throw new IOException("the kernel tells no original destination");
                    }
                    return new Place(
                            address.getInt(address.position() + 4),
                            Short.toUnsignedInt(address.getShort(address.position() + 2)));
                }
            };
}
