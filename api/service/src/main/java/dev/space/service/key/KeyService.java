package dev.space.service.key;

/**
 * A key that stays in its owner's service: it wraps and unwraps what is given to it. Every failure
 * is a {@link KeyFault}, in bounded time.
 */
interface KeyService extends AutoCloseable {

    /**
     * Wraps under the key's newest version.
     *
     * @param context what it is of; unwrapping must name the same
     */
    String wrap(String context, byte[] plain);

    /** What was wrapped, under whichever version; the caller wipes it. */
    byte[] unwrap(String context, String wrapped);

    @Override
    void close();
}
