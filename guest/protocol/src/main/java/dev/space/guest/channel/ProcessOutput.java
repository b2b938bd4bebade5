package dev.space.guest.channel;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One output of a process, read by absolute offset. */
public final class ProcessOutput implements AutoCloseable {

    private final GuestStream stream;
    private long offset;

    private ProcessOutput(GuestStream stream, long offset) {
        this.stream = stream;
        this.offset = offset;
    }

    /** From a stream opened with {@link GuestClient#attachRequest}; waits for its first answer. */
    public static ProcessOutput of(GuestStream stream, Duration timeout) {
        try {
            var reply = stream.reply(timeout);
            var start = GuestClient.expect(reply.hasOutputStart(), reply).getOutputStart();
            return new ProcessOutput(stream, start.getOffset());
        } catch (RuntimeException e) {
            stream.close();
            throw e;
        }
    }

    /** Offset of the next byte: later than asked for when the oldest was no longer kept. */
    public long offset() {
        return offset;
    }

    /**
     * The next bytes, or null at the end. Asking again acknowledges what was returned before, so
     * store it first; the guest keeps what is not acknowledged (and then makes the process wait).
     */
    public byte @Nullable [] read(Duration timeout) {
        var data = stream.read(timeout);
        if (data != null) {
            offset += data.length;
        }
        return data;
    }

    @Override
    public void close() {
        stream.close();
    }
}
