package dev.space.gateway.tcp;

import dev.space.model.egress.EgressReason;
import dev.space.model.egress.HostName;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the ClientHello, has it name the server that was resolved, and hands everything on as
 * it came: to the outside, or to whoever looks into it. Nothing is decrypted here.
 */
final class TlsOpening extends ByteToMessageDecoder {

    private final GuestConnection connection;
    private boolean judged;

    TlsOpening(GuestConnection connection) {
        this.connection = connection;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (judged) {
            in.skipBytes(in.readableBytes());
            return;
        }
        Optional<ClientHello> hello;
        try {
            hello = ClientHello.read(in);
        } catch (ClientHello.Malformed e) {
            judge(ctx, EgressReason.TLS_MALFORMED);
            return;
        }
        if (hello.isPresent()) {
            EgressReason fault = fault(hello.get());
            if (connection.isIntercepted() && fault == null) {
                judged = true;
                connection.intercept(hello.get());
                ctx.pipeline().remove(this);
            } else {
                judge(ctx, fault);
            }
        }
    }

    /** Null when the message proves the name. */
    private @Nullable EgressReason fault(ClientHello hello) {
        if (hello.hidesName() || hello.serverName().isEmpty()) {
            return EgressReason.TLS_NAME_MISSING;
        }
        try {
            String name = HostName.of(hello.serverName().get());
            boolean same = connection.target().name().filter(name::equals).isPresent();
            return same ? null : EgressReason.TLS_NAME_MISMATCH;
        } catch (IllegalArgumentException e) {
            return EgressReason.TLS_NAME_MISMATCH;
        }
    }

    /** Removed, this decoder gives what it has to the next handler. */
    private void judge(ChannelHandlerContext ctx, @Nullable EgressReason fault) {
        judged = true;
        if (fault == null || isRecordedOnly(fault)) {
            ctx.pipeline().remove(this);
            connection.proceed();
        } else {
            connection.refuse(fault);
        }
    }

    /** What is looked into must be what it says. */
    private boolean isRecordedOnly(EgressReason fault) {
        return !connection.isIntercepted() && connection.isDryRun(fault);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.broke();
    }
}
