package dev.space.guest.channel;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.space.guest.protocol.Failure;
import dev.space.guest.protocol.Reply;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * One request and what belongs to it: replies and data from the guest, data to the guest. What the
 * guest may send ahead is bounded by the window: a reader that is slow makes the guest wait.
 *
 * <p>Closing a stream that is not over cancels it in the guest. One thread reads and one writes.
 */
public final class GuestStream implements AutoCloseable {

    // Never compared or shared: the array goes to the one reader.
    @SuppressWarnings("ArrayRecordComponent")
    private record Item(@Nullable Reply reply, byte[] data, int cost) {}

    private static final byte[] NO_DATA = {};

    /** Credit is given back in pieces, not for every small frame. */
    private static final int CREDIT_BYTES_MIN = ChannelLimits.WINDOW_BYTES / 4;

    private final GuestChannel channel;
    private final int id;
    private final String name;
    private final Condition changed;
    private final ArrayDeque<Item> items = new ArrayDeque<>();
    private int receiveWindow = ChannelLimits.WINDOW_BYTES;
    private int owedCredit;
    private int consumedCost;
    private boolean owesData;
    private int sendWindow = ChannelLimits.WINDOW_BYTES;
    private boolean ended;
    private boolean closed;
    private @Nullable SpaceException failure;

    GuestStream(GuestChannel channel, int id, String name) {
        this.channel = channel;
        this.id = id;
        this.name = name;
        this.changed = channel.lock.newCondition();
    }

    /** The next reply. What the guest refused comes as a SpaceException with the guest's code. */
    public Reply reply(Duration timeout) {
        var item = next(timeout);
        if (item == null || item.reply() == null) {
            throw FrameDecoder.broken(name + " without the reply it needs");
        }
        return item.reply();
    }

    /** The next reply of a stream of replies; null at its end. */
    public @Nullable Reply replyOrEnd(Duration timeout) {
        var item = next(timeout);
        if (item != null && item.reply() == null) {
            throw FrameDecoder.broken(name + " answered data instead of a reply");
        }
        return item == null ? null : item.reply();
    }

    /**
     * The next piece of data, never empty; null at the end of the stream. Asking for the next piece
     * acknowledges the last one: the guest may forget it then, so store it first.
     */
    public byte @Nullable [] read(Duration timeout) {
        var item = next(timeout);
        if (item != null && item.reply() != null) {
            throw FrameDecoder.broken(name + " answered a reply instead of data");
        }
        return item == null ? null : item.data();
    }

    private @Nullable Item next(Duration timeout) {
        var deadline = new Deadline(timeout, name);
        channel.lock.lock();
        try {
            acknowledge();
            while (items.isEmpty()) {
                if (failure != null) {
                    throw new SpaceException(failure.code(), GuestChannel.detail(failure), failure);
                }
                if (ended) {
                    return null;
                }
                if (closed) {
                    throw new IllegalStateException(name + " was closed by its reader");
                }
                deadline.await(changed);
            }
            var item = items.removeFirst();
            consumedCost = item.cost();
            owesData |= item.reply() == null;
            return item;
        } finally {
            channel.lock.unlock();
        }
    }

    private void acknowledge() {
        owedCredit += consumedCost;
        consumedCost = 0;
        // With nothing left to read a small rest of data is acknowledged as well: output is kept
        // until then. A reply alone is not worth waking the guest for.
        if (owedCredit >= CREDIT_BYTES_MIN || (owesData && items.isEmpty() && !ended)) {
            receiveWindow += owedCredit;
            channel.sendCredit(id, owedCredit);
            owedCredit = 0;
            owesData = false;
        }
    }

    /** Sends data; waits while the guest is behind. */
    public void write(ByteBuffer data, Duration timeout) {
        channel.lock.lock();
        try {
            while (data.hasRemaining()) {
                var deadline = new Deadline(timeout, "the data of " + name);
                while (sendWindow == 0) {
                    throwIfOver();
                    deadline.await(changed);
                }
                throwIfOver();
                var count =
                        Math.min(
                                Math.min(data.remaining(), sendWindow),
                                ChannelLimits.DATA_BYTES_MAX);
                channel.sendData(id, false, data.slice(data.position(), count), deadline);
                sendWindow -= count;
                data.position(data.position() + count);
            }
        } finally {
            channel.lock.unlock();
        }
    }

    /** Says that no more data follows. */
    public void end(Duration timeout) {
        channel.lock.lock();
        try {
            throwIfOver();
            channel.sendData(
                    id, true, ByteBuffer.allocate(0), new Deadline(timeout, "the end of " + name));
        } finally {
            channel.lock.unlock();
        }
    }

    private void throwIfOver() {
        if (failure != null) {
            throw new SpaceException(failure.code(), GuestChannel.detail(failure), failure);
        }
        if (ended || closed) {
            throw FrameDecoder.broken(name + " ended before its data was sent");
        }
    }

    @Override
    public void close() {
        channel.lock.lock();
        try {
            closed = true;
            items.clear();
            channel.forget(id, !ended && failure == null);
            changed.signalAll();
        } finally {
            channel.lock.unlock();
        }
    }

    /** Under the channel's lock. */
    void failed(SpaceException reason) {
        if (failure == null && !ended) {
            failure = reason;
        }
        changed.signalAll();
    }

    /** Under the channel's lock. */
    void accept(FrameType type, boolean end, byte[] payload) {
        if (ended || failure != null) {
            throw FrameDecoder.broken("a frame after the end of its stream");
        }
        switch (type) {
            case REPLY -> add(new Item(parseReply(payload), NO_DATA, payload.length));
            case DATA -> {
                // An empty one only carries the end.
                if (payload.length > 0) {
                    add(new Item(null, payload, payload.length));
                }
            }
            case CREDIT -> credited(payload);
            case FAILURE -> failure = GuestFailures.of(parseFailure(payload));
            case REQUEST, CANCEL -> throw FrameDecoder.broken("a frame of the host's");
        }
        ended |= end && type != FrameType.CREDIT && type != FrameType.FAILURE;
        changed.signalAll();
    }

    private void add(Item item) {
        receiveWindow -= item.cost();
        if (receiveWindow < 0 || items.size() >= ChannelLimits.FRAMES_BEHIND_MAX) {
            throw FrameDecoder.broken("more than the window of a stream");
        }
        items.add(item);
    }

    private void credited(byte[] payload) {
        if (payload.length != 4) {
            throw FrameDecoder.broken("a credit of " + payload.length + " bytes");
        }
        var bytes = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (bytes < 0 || bytes > ChannelLimits.WINDOW_BYTES - sendWindow) {
            throw FrameDecoder.broken("more credit than was used");
        }
        sendWindow += bytes;
    }

    private static Reply parseReply(byte[] payload) {
        try {
            return Reply.parseFrom(payload);
        } catch (InvalidProtocolBufferException e) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the guest sent an unreadable reply", e);
        }
    }

    private static Failure parseFailure(byte[] payload) {
        try {
            return Failure.parseFrom(payload);
        } catch (InvalidProtocolBufferException e) {
            throw new SpaceException(
                    ErrorCode.GUEST_UNREACHABLE, "the guest sent an unreadable failure", e);
        }
    }
}
