package dev.space.gateway.dns;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One slot's DNS. Answers at once or not at all, keeps nothing between questions, and asks nobody:
 * a name that the policy does not allow never leaves the node, and one that it allows only when
 * something connects.
 */
public final class DnsResponder extends SimpleChannelInboundHandler<DatagramPacket> {

    private static final Logger LOG = LoggerFactory.getLogger(DnsResponder.class);

    /** Short, so that what the guest caches does not outlive a policy by much. */
    private static final int TTL_SECONDS = 30;

    private final Names names;

    /** What the slot knows of names. */
    public interface Names {

        /** Whether one more question is answered now. */
        boolean mayAsk();

        Answer answer(String name, boolean wantsAddress);

        /** A question that is none, or one that is not answered. */
        void unreadable();
    }

    /** What becomes of a question. */
    public sealed interface Answer {
        /** The name's synthetic address. */
        record Address(int address) implements Answer {}

        /** The name is allowed, but has no record of that type. */
        record Nothing() implements Answer {}

        /** Not allowed. */
        record Refused() implements Answer {}

        /** Allowed, but there is no room for one more name. */
        record Full() implements Answer {}
    }

    public DnsResponder(Names names) {
        this.names = names;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
        if (!names.mayAsk()) {
            return;
        }
        ByteBuf content = packet.content();
        ByteBuf reply;
        try {
            reply = reply(ctx, DnsQuery.read(content));
        } catch (DnsQuery.Malformed e) {
            names.unreadable();
            boolean isAnswer =
                    content.readableBytes() < DnsQuery.HEADER_BYTES
                            || (content.getByte(content.readerIndex() + 2) & 0x80) != 0;
            if (isAnswer) {
                return;
            }
            int id = content.getUnsignedShort(content.readerIndex());
            reply = DnsAnswer.malformed(ctx.alloc(), id);
        }
        var _ = ctx.write(new DatagramPacket(reply, packet.sender()), ctx.voidPromise());
    }

    private ByteBuf reply(ChannelHandlerContext ctx, DnsQuery query) {
        boolean wantsAddress = query.type() == DnsQuery.TYPE_A;
        return switch (names.answer(query.name(), wantsAddress)) {
            case Answer.Address a ->
                    DnsAnswer.address(ctx.alloc(), query, a.address(), TTL_SECONDS);
            case Answer.Nothing _ -> DnsAnswer.empty(ctx.alloc(), query, DnsAnswer.NO_ERROR);
            case Answer.Refused _ -> DnsAnswer.empty(ctx.alloc(), query, DnsAnswer.REFUSED);
            case Answer.Full _ -> DnsAnswer.empty(ctx.alloc(), query, DnsAnswer.SERVER_FAILURE);
        };
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }

    /** A datagram that cannot be answered costs itself only. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debug("a DNS answer was not sent: {}", cause.toString());
    }
}
