package dev.space.guest.channel;

import org.jspecify.annotations.Nullable;

/** What a frame is, with the longest payload that it may have. */
enum FrameType {
    REQUEST(1, ChannelLimits.REQUEST_BYTES_MAX),
    REPLY(2, ChannelLimits.REPLY_BYTES_MAX),
    DATA(3, ChannelLimits.DATA_BYTES_MAX),
    CREDIT(4, 4),
    FAILURE(5, 4096),
    CANCEL(6, 0);

    private final int code;
    private final int payloadBytesMax;

    FrameType(int code, int payloadBytesMax) {
        this.code = code;
        this.payloadBytesMax = payloadBytesMax;
    }

    int code() {
        return code;
    }

    int payloadBytesMax() {
        return payloadBytesMax;
    }

    static @Nullable FrameType of(int code) {
        return switch (code) {
            case 1 -> REQUEST;
            case 2 -> REPLY;
            case 3 -> DATA;
            case 4 -> CREDIT;
            case 5 -> FAILURE;
            case 6 -> CANCEL;
            default -> null;
        };
    }
}
