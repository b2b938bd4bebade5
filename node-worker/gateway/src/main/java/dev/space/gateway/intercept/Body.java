package dev.space.gateway.intercept;

import dev.space.gateway.credential.Use;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;

/** A request's body as a whole, as far as one may be. */
final class Body {

    /** What a form or a message has that a secret belongs into. */
    static final int BYTES_MAX = 1 << 20;

    private final ByteBufAllocator alloc;
    private ByteBuf bytes = Unpooled.EMPTY_BUFFER;

    Body(ByteBufAllocator alloc) {
        this.alloc = alloc;
    }

    /** Takes a piece, which is released; false when it is too much. */
    boolean add(HttpContent piece) {
        try {
            if (bytes.readableBytes() + piece.content().readableBytes() > BYTES_MAX) {
                return false;
            }
            if (piece.content().isReadable()) {
                if (bytes.capacity() == 0) {
                    bytes = alloc.heapBuffer();
                }
                bytes.writeBytes(piece.content());
            }
            return true;
        } finally {
            piece.release();
        }
    }

    void replace(Use use, HttpRequest head) {
        bytes = use.intoBody(alloc, head, bytes);
    }

    int length() {
        return bytes.readableBytes();
    }

    /** The same head for a body of that length, without a body. */
    static HttpRequest head(HttpRequest request, int length) {
        HttpRequest head =
                new DefaultHttpRequest(
                        request.protocolVersion(),
                        request.method(),
                        request.uri(),
                        request.headers());
        boolean framed =
                head.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
                        || head.headers().contains(HttpHeaderNames.CONTENT_LENGTH);
        if (framed) {
            head.headers().remove(HttpHeaderNames.TRANSFER_ENCODING);
            head.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
        }
        return head;
    }

    /** The caller's from now on. */
    ByteBuf take() {
        ByteBuf whole = bytes;
        bytes = Unpooled.EMPTY_BUFFER;
        return whole;
    }

    void release() {
        take().release();
    }
}
