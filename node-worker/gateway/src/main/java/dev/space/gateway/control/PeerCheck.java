package dev.space.gateway.control;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands in a listening unix socket before whoever serves its connections, and closes every one
 * whose peer has another uid than the one.
 */
final class PeerCheck extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(PeerCheck.class);

    private final int uid;

    private PeerCheck(int uid) {
        this.uid = uid;
    }

    /** A socket to listen on that lets one uid in. */
    static EpollServerDomainSocketChannel guarded(int uid) {
        EpollServerDomainSocketChannel channel = new EpollServerDomainSocketChannel();
        channel.pipeline().addLast(new PeerCheck(uid));
        return channel;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof EpollDomainSocketChannel child)) {
            ReferenceCountUtil.release(msg);
            return;
        }
        int peer = peer(child);
        if (peer == uid) {
            ctx.fireChannelRead(child);
        } else {
            LOG.warn("refused a peer with uid {}", peer);
            ((Channel) child).unsafe().closeForcibly();
        }
    }

    /** A peer that cannot be told is nobody. */
    private static int peer(EpollDomainSocketChannel child) {
        try {
            return child.peerCredentials().uid();
        } catch (IOException e) {
            LOG.warn("a peer's uid cannot be read: {}", e.getMessage());
            return -1;
        }
    }
}
