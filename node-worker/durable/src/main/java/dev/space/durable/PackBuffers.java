package dev.space.durable;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The memory that all transfers of a node may use for packs, however many run: one buffer for each
 * pack that is being filled, sent or read. Who finds none waits.
 */
final class PackBuffers {

    /** One is filled while others are on their way. */
    static final int COUNT = 6;

    private static final long LOOK_AGAIN_MILLIS = 200;

    private final Semaphore free = new Semaphore(COUNT, true);
    private final int packBytes;

    /**
     * @param packBytes when a pack is closed; smaller than usual in tests only
     */
    PackBuffers(int packBytes) {
        this.packBytes = packBytes;
    }

    int packBytes() {
        return packBytes;
    }

    /** A buffer with room for a whole pack; ends with the transfer when it is cancelled. */
    byte[] take(TransferControl control) {
        try {
            do {
                Transfers.checkCancelled(control);
            } while (!free.tryAcquire(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TransferCancelledException("the transfer");
        }
        return new byte[Format.PACK_BYTES_MAX - Format.PACK_BYTES + packBytes];
    }

    /** Ends the use of a buffer; nothing is kept, so that an idle node holds none. */
    void give() {
        free.release();
    }

    int freeNow() {
        return free.availablePermits();
    }
}
