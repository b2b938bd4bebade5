package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Objects in memory, with what a real store can do to its callers. */
final class MemoryObjectStore implements ObjectStore {

    static final class Stored {

        private final byte[] bytes;
        private final Instant modified;

        Stored(byte[] bytes, Instant modified) {
            this.bytes = bytes;
            this.modified = modified;
        }

        byte[] bytes() {
            return bytes;
        }

        Instant modified() {
            return modified;
        }
    }

    final Map<String, Stored> objects = new ConcurrentSkipListMap<>();
    final AtomicLong bytesPut = new AtomicLong();
    final AtomicInteger puts = new AtomicInteger();

    /** Calls until the store is cut off; negative for never. */
    final AtomicInteger callsLeft = new AtomicInteger(-1);

    /** True: the call that is cut has its effect, only the answer is lost. */
    volatile boolean cutAfterEffect;

    volatile long roomBytes = Long.MAX_VALUE;
    volatile boolean tagsAreMd5 = true;
    volatile Instant now = Instant.EPOCH;
    volatile Consumer<String> beforeEach = what -> {};

    private boolean cut() {
        return callsLeft.getAndUpdate(left -> left > 0 ? left - 1 : left) == 0;
    }

    private <T> T call(String what, java.util.function.Supplier<T> effect) {
        beforeEach.accept(what);
        if (cut()) {
            if (cutAfterEffect) {
                var _ = effect.get();
            }
            throw new SpaceException(ErrorCode.OBJECT_STORE_UNAVAILABLE, "cut: " + what);
        }
        return effect.get();
    }

    @Override
    public void put(String key, byte[] bytes, int length) {
        var _ =
                call(
                        "put " + key,
                        () -> {
                            store(key, Arrays.copyOf(bytes, length));
                            return true;
                        });
    }

    private synchronized void store(String key, byte[] bytes) {
        long used = objects.values().stream().mapToLong(o -> o.bytes().length).sum();
        if (used + bytes.length > roomBytes) {
            throw new SpaceException(ErrorCode.OBJECT_STORE_FULL, "full");
        }
        objects.put(key, new Stored(bytes, now));
        bytesPut.addAndGet(bytes.length);
        puts.incrementAndGet();
    }

    @Override
    public boolean putIfAbsent(String key, byte[] bytes) {
        return call(
                "create " + key,
                () -> {
                    synchronized (this) {
                        if (objects.containsKey(key)) {
                            return false;
                        }
                        store(key, bytes.clone());
                        return true;
                    }
                });
    }

    @Override
    public Optional<Stat> stat(String key) {
        return call(
                "stat " + key,
                () ->
                        Optional.ofNullable(objects.get(key))
                                .map(o -> new Stat(o.bytes().length, tag(o))));
    }

    private String tag(Stored object) {
        try {
            String digest =
                    HexFormat.of()
                            .formatHex(MessageDigest.getInstance("MD5").digest(object.bytes()));
            return tagsAreMd5 ? digest : "opaque-" + digest.substring(4);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int read(String key, long offset, int length, byte[] into) {
        return call(
                "read " + key,
                () -> {
                    Stored object = objects.get(key);
                    if (object == null) {
                        return -1;
                    }
                    int there = (int) Math.max(0, Math.min(length, object.bytes().length - offset));
                    System.arraycopy(
                            object.bytes(),
                            (int) Math.min(offset, object.bytes().length),
                            into,
                            0,
                            there);
                    return there;
                });
    }

    @Override
    public void list(String prefix, Consumer<Listed> each) {
        var _ =
                call(
                        "list " + prefix,
                        () -> {
                            objects.forEach((key, object) -> {
                                if (key.startsWith(prefix)) {
                                    each.accept(
                                            new Listed(
                                                    key, object.bytes().length, object.modified()));
                                }
                            });
                            return true;
                        });
    }

    @Override
    public void delete(String key) {
        var _ =
                call(
                        "delete " + key,
                        () -> {
                            objects.remove(key);
                            return true;
                        });
    }

    byte[] bytesOf(String key) {
        return Objects.requireNonNull(objects.get(key), key).bytes();
    }

    /** Changes an object behind everybody's back. */
    void tamper(String key, byte[] bytes) {
        objects.put(key, new Stored(bytes, now));
    }
}
