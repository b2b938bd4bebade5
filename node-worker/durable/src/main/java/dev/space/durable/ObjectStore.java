package dev.space.durable;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The few things that are asked of an S3 server. Failures are SpaceExceptions with
 * OBJECT_STORE_UNAVAILABLE or OBJECT_STORE_FULL; an object that is not there is no failure.
 */
interface ObjectStore {

    /** What a server says of an object; the tag is its MD5 on servers that say so. */
    record Stat(long length, String tag) {}

    /** One object of a listing. */
    record Listed(String key, long length, Instant modified) {}

    /** Writes or replaces an object. */
    void put(String key, byte[] bytes, int length);

    /** Writes an object unless there is one of that name: exactly one caller gets true. */
    boolean putIfAbsent(String key, byte[] bytes);

    Optional<Stat> stat(String key);

    /**
     * Reads up to this many bytes into the buffer's start.
     *
     * @return how many there were; -1 when there is no object
     */
    int read(String key, long offset, int length, byte[] into);

    /** Every object whose name starts so, page by page. */
    void list(String prefix, Consumer<Listed> each);

    /** Removing what is not there is success. */
    void delete(String key);
}
