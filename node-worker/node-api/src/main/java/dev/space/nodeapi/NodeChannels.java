package dev.space.nodeapi;

import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One channel for each node's address, with the node token in every call. Bounded: the channel that
 * was not used for longest is closed when there are too many. Connections are made when needed and
 * end when idle.
 */
public final class NodeChannels implements AutoCloseable {
    /** A cell holds a few hundred nodes. */
    public static final int CHANNELS_MAX = 1024;

    /** Largest message from a node: one exec's output of both streams, with room. */
    public static final int MESSAGE_BYTES_MAX = 8 << 20;

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Supplier<String> token;
    private final Map<String, ManagedChannel> channels = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * @param token reads the shared secret of the node API
     */
    public NodeChannels(Supplier<String> token) {
        this.token = token;
    }

    /** The channel to {@code host:port}. */
    public Channel to(String address) {
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + token.get());
        return ClientInterceptors.intercept(
                managed(address), MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private synchronized ManagedChannel managed(String address) {
        ManagedChannel known = channels.get(address);
        if (known != null) {
            return trying(known);
        }
        if (channels.size() >= CHANNELS_MAX) {
            Map.Entry<String, ManagedChannel> eldest = channels.entrySet().iterator().next();
            channels.remove(eldest.getKey());
            eldest.getValue().shutdown();
        }
        ManagedChannel made =
                ManagedChannelBuilder.forTarget("dns:///" + address)
                        .usePlaintext()
                        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                        .idleTimeout(10, TimeUnit.MINUTES)
                        .keepAliveTime(30, TimeUnit.SECONDS)
                        .disableRetry()
                        .build();
        channels.put(address, made);
        return made;
    }

    /**
     * A node that was away is called again by whoever needs it. Left to itself the channel waits
     * ever longer between its tries, up to minutes, and refuses every call although the node is
     * back.
     */
    static ManagedChannel trying(ManagedChannel channel) {
        if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            channel.resetConnectBackoff();
        }
        return channel;
    }

    @Override
    public void close() {
        Collection<ManagedChannel> all;
        synchronized (this) {
            all = new ArrayList<>(channels.values());
            channels.clear();
        }
        all.forEach(ManagedChannel::shutdownNow);
    }
}
