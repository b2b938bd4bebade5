package dev.space.guest.channel;

/** The numbers that both sides of the channel agree on; guest.proto names them too. */
public final class ChannelLimits {

    /** Bytes that each direction of a stream may be ahead of its reader. */
    public static final int WINDOW_BYTES = 256 << 10;

    /** Payload of one DATA frame: what the guest's port moves at once. */
    public static final int DATA_BYTES_MAX = 32 << 10;

    public static final int REPLY_BYTES_MAX = 64 << 10;

    /** Room for a process's arguments and environment (Limits.PROCESS_SPEC_BYTES_MAX). */
    public static final int REQUEST_BYTES_MAX = 192 << 10;

    /** Frames that one stream's reader may be behind; bounds a flood of empty frames. */
    static final int FRAMES_BEHIND_MAX = 2048;

    /** Streams open at once on one channel; the daemon refuses more. */
    public static final int STREAMS_MAX = 128;

    /** Bytes waiting for the socket before writers have to wait. */
    static final int PENDING_BYTES_MAX = 256 << 10;

    private ChannelLimits() {}
}
