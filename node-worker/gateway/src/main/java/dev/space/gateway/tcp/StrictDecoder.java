package dev.space.gateway.tcp;

import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Netty's own, without its leniency where lengths contradict each other. */
public final class StrictDecoder extends HttpRequestDecoder {

    private static final int LINE_BYTES_MAX = 8 << 10;

    /** All headers of a request or an answer together. */
    public static final int HEADERS_BYTES_MAX = 64 << 10;

    private static final int PIECE_BYTES_MAX = 32 << 10;

    public StrictDecoder() {
        super(config());
    }

    /** The same bounds for both directions. */
    public static HttpDecoderConfig config() {
        return new HttpDecoderConfig()
                .setMaxInitialLineLength(LINE_BYTES_MAX)
                .setMaxHeaderSize(HEADERS_BYTES_MAX)
                .setMaxChunkSize(PIECE_BYTES_MAX)
                .setAllowDuplicateContentLengths(false)
                .setValidateHeaders(true);
    }

    /** Left as they are, both headers are seen and refused by {@link HttpCheck}. */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {}
}
