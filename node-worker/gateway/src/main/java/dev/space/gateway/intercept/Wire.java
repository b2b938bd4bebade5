package dev.space.gateway.intercept;

import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpResponse;
import java.util.function.Consumer;

/** What the versions of HTTP do in different ways. */
interface Wire {

    /** Whether requests have a channel each. */
    boolean hasStreams();

    /**
     * Gets a channel for one request to the outside.
     *
     * @param answers its last handler
     * @param head nothing but the head is answered
     */
    void open(Answering answers, boolean head, Consumer<Channel> then, Runnable otherwise);

    /** Says in an answer's head whether something follows it. */
    void mark(HttpResponse response, boolean goesOn);

    /** An answer of our own is written, and nothing follows it. */
    void farewell(Channel guest, boolean requestEnded);

    /** The answer is whole; the sandbox's side ends once it is there. */
    void end(Channel guest, boolean requestEnded);

    /** The answer cannot be whole. */
    void broke(Channel guest);

    /** What the outside still has to say about this request is of no interest. */
    void drop(Channel outside);

    /** Both sides agreed on WebSocket: from now on bytes pass. */
    void frames(Channel guest, Channel outside, Asking asking, Answering answering);
}
