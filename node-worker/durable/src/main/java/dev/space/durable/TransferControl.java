package dev.space.durable;

/** How a caller watches and ends a transfer. Called often and from several threads; be quick. */
public interface TransferControl {

    /** Asked before each pack; true ends the transfer with TransferCancelledException. */
    boolean cancelled();

    /** Bytes worked off so far, of all; the total may be made better during the transfer. */
    void progress(long done, long total);

    /** For callers that only wait. */
    TransferControl NONE =
            new TransferControl() {
                @Override
                public boolean cancelled() {
                    return false;
                }

                @Override
                public void progress(long done, long total) {}
            };
}
