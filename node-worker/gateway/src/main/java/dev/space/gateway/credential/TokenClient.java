package dev.space.gateway.credential;

import dev.space.gateway.net.Upstream;
import dev.space.gateway.tls.OutsideTls;
import dev.space.model.credential.TokenUrl;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks token endpoints: one form over TLS that is verified, one answer, no redirect. Names are
 * resolved and addresses refused as for sandboxes.
 */
public final class TokenClient {

    /** For all of one call. */
    static final Duration CALL_MAX = Duration.ofSeconds(10);

    /** Calls at once, of all sandboxes; beyond that they fail at once. */
    private static final int CALLS_MAX = 64;

    private static final int ANSWER_BYTES_MAX = 64 << 10;

    /**
     * What is sent, and how the client proves itself.
     *
     * @param authorization empty where the form says it
     * @param mayBePrivate whether the endpoint may be at a private address
     */
    record Form(TokenUrl url, String body, String authorization, boolean mayBePrivate) {

        @Override
        public String toString() {
            return "Form(" + url + ")";
        }
    }

    /** What came back; it does not print, for it may have a token. */
    record Answer(int status, String body) {

        @Override
        public String toString() {
            return "Answer(" + status + ")";
        }
    }

    private final EventLoopGroup loops;
    private final Upstream upstream;
    private final OutsideTls tls;
    private final AtomicInteger calls = new AtomicInteger();

    public TokenClient(EventLoopGroup loops, Upstream upstream, OutsideTls tls) {
        this.loops = loops;
        this.upstream = upstream;
        this.tls = tls;
    }

    /** Fails with an IOException, or what the connection failed with. */
    CompletableFuture<Answer> post(Form form) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        if (calls.incrementAndGet() > CALLS_MAX) {
            calls.decrementAndGet();
            answer.completeExceptionally(new IOException("too many calls are under way"));
            return answer;
        }
        EventLoop loop = loops.next();
        ScheduledFuture<?> timer =
                loop.schedule(
                        () -> answer.completeExceptionally(new IOException("no answer in time")),
                        CALL_MAX.toMillis(),
                        TimeUnit.MILLISECONDS);
        upstream.toName(
                        loop,
                        form.url().host(),
                        form.url().port(),
                        form.mayBePrivate(),
                        new ChannelInboundHandlerAdapter())
                .addListener((Future<Channel> f) -> {
                    if (f.isSuccess()) {
                        connected(f.getNow(), form, answer);
                    } else {
                        answer.completeExceptionally(f.cause());
                    }
                });
        return answer.whenComplete((_, _) -> {
            calls.decrementAndGet();
            timer.cancel(false);
        });
    }

    private void connected(Channel channel, Form form, CompletableFuture<Answer> answer) {
        var _ =
                answer.whenComplete((_, _) -> {
                    var _ = channel.close();
                });
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        SslHandler secure =
                new SslHandler(tls.engine(form.url().host(), form.url().port(), List.of()));
        secure.setHandshakeTimeoutMillis(CALL_MAX.toMillis());
        channel.pipeline()
                .addLast(
                        secure,
                        new HttpClientCodec(),
                        new HttpObjectAggregator(ANSWER_BYTES_MAX),
                        new Answers(answer));
        channel.config().setAutoRead(true);
        secure.handshakeFuture()
                .addListener((Future<Channel> f) -> {
                    if (f.isSuccess()) {
                        var _ = channel.writeAndFlush(request(form));
                    } else {
                        answer.completeExceptionally(f.cause());
                    }
                });
    }

    private static DefaultFullHttpRequest request(Form form) {
        ByteBuf body = Unpooled.copiedBuffer(form.body(), StandardCharsets.US_ASCII);
        DefaultFullHttpRequest request =
                new DefaultFullHttpRequest(
                        HttpVersion.HTTP_1_1, HttpMethod.POST, form.url().path(), body);
        request.headers()
                .set(HttpHeaderNames.HOST, form.url().authority())
                .set(HttpHeaderNames.CONTENT_TYPE, "application/x-www-form-urlencoded")
                .set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes())
                .set(HttpHeaderNames.ACCEPT, "application/json")
                .set(HttpHeaderNames.CONNECTION, "close");
        if (!form.authorization().isEmpty()) {
            request.headers().set(HttpHeaderNames.AUTHORIZATION, form.authorization());
        }
        return request;
    }

    /** Takes the one answer. */
    private static final class Answers extends SimpleChannelInboundHandler<FullHttpResponse> {

        private final CompletableFuture<Answer> answer;

        Answers(CompletableFuture<Answer> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            if (response.decoderResult().isFailure()) {
                answer.completeExceptionally(new IOException("the answer is no HTTP"));
            } else {
                answer.complete(
                        new Answer(
                                response.status().code(),
                                response.content().toString(StandardCharsets.UTF_8)));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            answer.completeExceptionally(new IOException("the connection ended"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            answer.completeExceptionally(cause);
        }
    }
}
