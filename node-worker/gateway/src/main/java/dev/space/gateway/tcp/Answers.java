package dev.space.gateway.tcp;

import dev.space.gateway.net.Refusal;
import dev.space.model.egress.EgressReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/** What the gateway itself says to a sandbox over HTTP: always an end, always with its reason. */
public final class Answers {

    private Answers() {}

    /** The whole answer, as bytes. */
    static ByteBuf of(ByteBufAllocator alloc, int status, EgressReason reason, String body) {
        byte[] text = body.getBytes(StandardCharsets.UTF_8);
        String head =
                "HTTP/1.1 "
                        + status
                        + " "
                        + phrase(status)
                        + "\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: "
                        + text.length
                        + "\r\nconnection: close\r\nspace-refused: "
                        + reason.name()
                        + "\r\n\r\n";
        ByteBuf out = alloc.buffer(head.length() + text.length);
        out.writeCharSequence(head, StandardCharsets.US_ASCII);
        return out.writeBytes(text);
    }

    /** For a person or an agent who reads it in the sandbox. Says nothing that was not sent. */
    public static String refusal(Target target, String method, EgressReason reason) {
        return "The network policy of this sandbox does not allow "
                + (method.isEmpty() ? "this request" : method)
                + " to "
                + target.host()
                + ":"
                + target.port()
                + " ("
                + reason.name()
                + "). "
                + reason.summary()
                + " The session's owner can change its network policy.\n";
    }

    /** A credential was wanted and not given. */
    public static String credential(
            Target target, String method, EgressReason reason, String detail) {
        return "The credential broker of this sandbox does not pass "
                + method
                + " to "
                + target.host()
                + ":"
                + target.port()
                + " ("
                + reason.name()
                + (detail.isEmpty() ? "" : ": " + detail)
                + "). "
                + reason.summary()
                + " The session's owner can change its grants.\n";
    }

    public static String unreachable(Target target, Refusal failure) {
        return "The network gateway of this sandbox cannot reach "
                + target.host()
                + ":"
                + target.port()
                + " ("
                + failure.reason().name()
                + "). "
                + failure.reason().summary()
                + "\n";
    }

    private static String phrase(int status) {
        return switch (status) {
            case 400 -> "Bad Request";
            case 403 -> "Forbidden";
            case 429 -> "Too Many Requests";
            default -> "Bad Gateway";
        };
    }
}
