package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One upload: walks the snapshot's files on the chunk grid, leaves out what the template or the
 * last durable snapshot has, and publishes the manifest when all packs have been checked.
 */
final class Upload {

    private static final Logger LOG = LoggerFactory.getLogger(Upload.class);

    /** Chunks between two looks at whether the caller still wants the transfer. */
    private static final int LOOK_EVERY = 256;

    /** Packs of the last durable snapshot that are looked at beside each other. */
    private static final int LOOKS_AT_ONCE = 8;

    private final S3DurableStore.Parts parts;
    private final UploadRequest request;
    private final TransferControl control;
    private final Names.Owner owner;
    private final LineageKeys keys;
    private final ChunkSealer sealer;
    private final byte[] content = new byte[Format.CHUNK_BYTES];
    private final byte[] other = new byte[Format.CHUNK_BYTES];

    /** Where a content is stored already, in this upload's list of packs. */
    private final Map<ChunkId, ChunkRef> known = new HashMap<>();

    private final Map<Integer, Integer> reusedPacks = new HashMap<>();
    private @Nullable Manifest previous;
    private long done;
    private long total;

    Upload(S3DurableStore.Parts parts, UploadRequest request, TransferControl control) {
        this.parts = parts;
        this.request = request;
        this.control = control;
        this.owner = new Names.Owner(request.lineage(), request.session(), request.snapshot());
        this.keys = LineageKeys.of(request.lineage(), request.key());
        this.sealer = new ChunkSealer(keys);
    }

    DurableSnapshot run() {
        Transfers.checkCancelled(control);
        Optional<DurableSnapshot> before = published();
        if (before.isPresent()) {
            return before.get();
        }
        previous = request.previous().map(this::readPrevious).orElse(null);
        try (PackWriter writer = new PackWriter(parts, owner, keys, control)) {
            List<SnapshotTree.Node> nodes = SnapshotTree.of(request.directory());
            total = nodes.stream().mapToLong(SnapshotTree.Node::size).sum();
            List<Manifest.Entry> entries = new ArrayList<>();
            for (SnapshotTree.Node node : nodes) {
                entries.add(
                        node.directory()
                                ? new Manifest.Directory(node.path())
                                : file(node, writer));
            }
            Manifest manifest = new Manifest(owner, writer.finish(), entries);
            return publish(manifest, writer.bytesSent());
        } catch (IOException e) {
            throw Io.failed("read the snapshot in " + request.directory(), e);
        }
    }

    /** What an earlier attempt of the same upload published. */
    private Optional<DurableSnapshot> published() {
        return ManifestObjects.find(parts.store(), owner.manifest())
                .map(object -> describe(object, ManifestCodec.decode(object, keys), 0));
    }

    /** The last durable snapshot, or null where it is not whole: then nothing is taken from it. */
    private @Nullable Manifest readPrevious(DurableSnapshot snapshot) {
        Manifest read;
        try {
            read = ManifestObjects.require(parts.store(), snapshot, keys);
            requirePacks(read);
        } catch (SpaceException e) {
            if (e.code() != ErrorCode.SNAPSHOT_CORRUPT) {
                throw e;
            }
            LOG.warn("upload {} sends everything: {}", owner, e.getMessage());
            return null;
        }
        for (Manifest.Entry entry : read.entries()) {
            if (entry instanceof Manifest.File file) {
                file.parts().forEach(this::remember);
            }
        }
        return read;
    }

    private void requirePacks(Manifest manifest) {
        Transfers looks = new Transfers(parts.executor(), control);
        Semaphore atOnce = new Semaphore(LOOKS_AT_ONCE);
        for (Manifest.Pack pack : manifest.packs()) {
            atOnce.acquireUninterruptibly();
            looks.start(() -> {
                try {
                    String key = pack.key(owner.lineage());
                    if (parts.store()
                            .stat(key)
                            .filter(s -> s.length() == pack.length())
                            .isEmpty()) {
                        throw Corruption.of("pack " + key + " is missing or has another length");
                    }
                } finally {
                    atOnce.release();
                }
            });
        }
        looks.await();
    }

    private void remember(Manifest.Part part) {
        ChunkRef chunk = part.chunk();
        if (chunk != null) {
            known.putIfAbsent(chunk.id(), chunk.inPack(-1 - chunk.pack()));
        }
    }

    private Manifest.File file(SnapshotTree.Node node, PackWriter writer) throws IOException {
        Path file = request.directory().resolve(node.path());
        try (Sources sources = Sources.of(parts, request, previous, node, file)) {
            var empty = new Manifest.File(node.path(), node.size(), sources.base(), List.of());
            List<Manifest.Part> changed = new ArrayList<>();
            int chunks = empty.chunks();
            for (int index = 0; index < chunks; index++) {
                int length = empty.chunkLength(index);
                Manifest.Part part = part(sources, index, length, writer);
                if (part != null) {
                    changed.add(part);
                }
                done += length;
                if (index % LOOK_EVERY == 0) {
                    look(writer);
                }
            }
            return new Manifest.File(node.path(), node.size(), sources.base(), changed);
        }
    }

    private void look(PackWriter writer) {
        Transfers.checkCancelled(control);
        if (writer.isOver()) {
            // Throws what ended it.
            var _ = writer.finish();
        }
        control.progress(done, total);
    }

    /** What the manifest says of a chunk; null when the base has it already. */
    private Manifest.@Nullable Part part(Sources sources, int index, int length, PackWriter writer)
            throws IOException {
        Sources.Known told = sources.told(index, length);
        switch (told) {
            case Sources.Known.Base _ -> {
                return null;
            }
            case Sources.Known.Before(Manifest.@Nullable Part part) -> {
                ChunkRef chunk = part == null ? null : part.chunk();
                return chunk == null
                        ? part
                        : new Manifest.Part(index, here(writer, chunk.inPack(-1 - chunk.pack())));
            }
            case Sources.Known.Zeros _ -> {
                return sources.baseIsZero(index, length, other)
                        ? null
                        : new Manifest.Part(index, null);
            }
            case Sources.Known.Nothing _ -> {}
        }
        sources.read(index, length, content);
        if (Io.isZero(content, length)) {
            return sources.baseIsZero(index, length, other) ? null : new Manifest.Part(index, null);
        }
        if (sources.baseIs(index, length, content, other)) {
            return null;
        }
        return new Manifest.Part(index, stored(writer, length));
    }

    private ChunkRef stored(PackWriter writer, int length) {
        ChunkId id = sealer.id(content, length);
        ChunkRef there = known.get(id);
        if (there != null && there.length() == length) {
            return here(writer, there);
        }
        ChunkRef fresh = writer.add(sealer, id, content, length);
        known.put(id, fresh);
        return fresh;
    }

    /** A chunk of the last durable snapshot has a negative pack until that pack is listed here. */
    private ChunkRef here(PackWriter writer, ChunkRef chunk) {
        if (chunk.pack() >= 0) {
            return chunk;
        }
        int theirs = -1 - chunk.pack();
        Manifest from = previous;
        if (from == null) {
            throw new IllegalStateException("a chunk of no snapshot");
        }
        int pack = reusedPacks.computeIfAbsent(theirs, at -> writer.reuse(from.packs().get(at)));
        return chunk.inPack(pack);
    }

    private DurableSnapshot publish(Manifest manifest, long sent) {
        byte[] object = ManifestCodec.encode(manifest, keys);
        Transfers.checkCancelled(control);
        String key = owner.manifest();
        if (!parts.store().putIfAbsent(key, object)) {
            // An earlier attempt, or this one's own write whose answer was lost.
            byte[] there =
                    ManifestObjects.find(parts.store(), key).orElseThrow(() -> unreadable(key));
            Manifest theirs = ManifestCodec.decode(there, keys);
            if (!theirs.sameContent(manifest)) {
                throw Corruption.of("upload " + owner + " was published with other files");
            }
            return describe(there, theirs, sent);
        }
        byte[] back = ManifestObjects.find(parts.store(), key).orElseThrow(() -> unreadable(key));
        if (!Arrays.equals(back, object)) {
            throw unreadable(key);
        }
        control.progress(total, total);
        return describe(object, manifest, sent + object.length);
    }

    private static SpaceException unreadable(String key) {
        return new SpaceException(
                ErrorCode.OBJECT_STORE_UNAVAILABLE,
                "the object store took " + key + " but does not give it back as it was");
    }

    private DurableSnapshot describe(byte[] object, Manifest manifest, long sent) {
        return new DurableSnapshot(
                owner.manifest(),
                ManifestObjects.digest(object),
                manifest.packBytes() + object.length,
                sent,
                manifest.logicalBytes());
    }
}
