package dev.space.gateway.credential;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;

/** One credential in one request and its answer. */
public interface Use {

    /** The credential's id, for records. */
    String id();

    /** Puts it into the head. */
    void intoHead(HttpRequest request);

    /** Whether the body must be there as a whole, because the secret may belong into it. */
    boolean wantsBody(HttpRequest request);

    /** Puts it into a whole body, which is released, or into the head because of the body. */
    ByteBuf intoBody(ByteBufAllocator alloc, HttpRequest request, ByteBuf body);

    /** What the server answered, once for each request that it answers. */
    void answered(int status);

    /** Overwrites it in headers or trailers of the answer. */
    void outOf(HttpHeaders headers);

    /** Overwrites it in the body of one answer. */
    Scrubber scrubber();
}
