package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/**
 * Fills packs with sealed chunks and sends each full one while the next is filled. A pack's name is
 * made of its bytes: a repeated upload that makes the same pack finds it and does not send it
 * again. Each pack is checked at the store before it counts.
 */
final class PackWriter implements AutoCloseable {

    static final int MAGIC_BYTES = 8;

    private static final byte[] MAGIC = "SPACEPK1".getBytes(StandardCharsets.US_ASCII);
    private static final int NAME_BYTES = 16;

    private final ObjectStore store;
    private final PackBuffers buffers;
    private final Names.Owner owner;
    private final LineageKeys keys;
    private final TransferControl control;
    private final Transfers transfers;
    private final List<Manifest.@Nullable Pack> packs = new ArrayList<>();
    private final AtomicLong sent = new AtomicLong();
    private byte @Nullable [] open;
    private ByteBuffer view = ByteBuffer.allocate(0);
    private int openAt;

    PackWriter(
            S3DurableStore.Parts parts,
            Names.Owner owner,
            LineageKeys keys,
            TransferControl control) {
        this.store = parts.store();
        this.buffers = parts.buffers();
        this.owner = owner;
        this.keys = keys;
        this.control = control;
        this.transfers = new Transfers(parts.executor(), control);
    }

    /** A pack of an earlier upload, by its place in the list that {@link #finish} gives. */
    int reuse(Manifest.Pack pack) {
        packs.add(pack);
        return packs.size() - 1;
    }

    ChunkRef add(ChunkSealer sealer, ChunkId id, byte[] content, int length) {
        if (open == null) {
            byte[] buffer = buffers.take(control);
            open = buffer;
            view = ByteBuffer.wrap(buffer).put(MAGIC);
            openAt = packs.size();
            packs.add(null);
        }
        int offset = view.position();
        int sealed = sealer.seal(id, content, length, view);
        ChunkRef ref = new ChunkRef(id, openAt, offset, sealed, length);
        if (view.position() >= buffers.packBytes()) {
            send();
        }
        return ref;
    }

    private void send() {
        byte[] buffer = open;
        if (buffer == null) {
            return;
        }
        open = null;
        int length = view.position();
        var pack =
                new Manifest.Pack(owner.session(), owner.snapshot(), name(buffer, length), length);
        packs.set(openAt, pack);
        transfers.start(() -> {
            try {
                if (!transfers.isOver()) {
                    deliver(pack, buffer);
                }
                Transfers.checkCancelled(control);
            } finally {
                buffers.give();
            }
        });
    }

    private String name(byte[] pack, int length) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(keys.packs());
            mac.update(pack, 0, length);
            return HexFormat.of().formatHex(mac.doFinal(), 0, NAME_BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK lacks HMAC", e);
        }
    }

    private void deliver(Manifest.Pack pack, byte[] bytes) {
        String key = pack.key(owner.lineage());
        String expected = md5(bytes, pack.length());
        if (isThere(key, pack.length(), expected, bytes)) {
            return;
        }
        store.put(key, bytes, pack.length());
        sent.addAndGet(pack.length());
        if (!isThere(key, pack.length(), expected, bytes)) {
            throw new SpaceException(
                    ErrorCode.OBJECT_STORE_UNAVAILABLE,
                    "the object store took pack " + key + " but does not give it back as it was");
        }
    }

    /** By length and tag; where the tag is no MD5, by reading the bytes back. */
    private boolean isThere(String key, int length, String expected, byte[] bytes) {
        Optional<ObjectStore.Stat> there = store.stat(key);
        if (there.isEmpty() || there.get().length() != length) {
            return false;
        }
        if (there.get().tag().equalsIgnoreCase(expected)) {
            return true;
        }
        byte[] back = new byte[length];
        return store.read(key, 0, length, back) == length
                && Arrays.equals(back, 0, length, bytes, 0, length);
    }

    /** What S3 calls a tag; it protects against accidents only, the seals against the rest. */
    private static String md5(byte[] bytes, int length) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(bytes, 0, length);
            return HexFormat.of().formatHex(digest.digest());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends what is left; every pack of the list is at the store and checked. */
    List<Manifest.Pack> finish() {
        send();
        transfers.await();
        Transfers.checkCancelled(control);
        List<Manifest.Pack> all = new ArrayList<>();
        for (Manifest.Pack pack : packs) {
            all.add(Objects.requireNonNull(pack, "a pack that was never sent"));
        }
        return all;
    }

    long bytesSent() {
        return sent.get();
    }

    /** True once a pack could not be sent: the caller need not read on. */
    boolean isOver() {
        return transfers.isOver();
    }

    /** Leaves nothing running and no buffer taken, whatever happened. */
    @Override
    public void close() {
        if (open != null) {
            open = null;
            buffers.give();
        }
        transfers.drain();
    }
}
