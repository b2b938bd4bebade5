package dev.space.durable;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One file of a snapshot beside what it may share with: the template's file and its own copy in the
 * last durable snapshot. Tells by places on the device what need not be read.
 */
final class Sources implements AutoCloseable {

    /** What is known of a chunk without reading it. */
    sealed interface Known {
        /** The template's bytes. */
        record Base() implements Known {}

        /** As in the last durable snapshot; null there means the template's bytes. */
        record Before(Manifest.@Nullable Part part) implements Known {}

        record Zeros() implements Known {}

        record Nothing() implements Known {}
    }

    private static final Known BASE = new Known.Base();
    private static final Known ZEROS = new Known.Zeros();
    private static final Known NOTHING = new Known.Nothing();

    private final FileChannel channel;
    private final FileMap map;
    private final Manifest.@Nullable Base base;
    private final @Nullable FileChannel baseChannel;
    private final @Nullable FileMap baseMap;
    private final @Nullable FileMap beforeMap;
    private final Map<Integer, Manifest.Part> before;
    private final Manifest.@Nullable File beforeFile;

    private Sources(
            Path file,
            Manifest.@Nullable Base base,
            @Nullable Path baseFile,
            Manifest.@Nullable File beforeFile,
            @Nullable Path beforeCopy)
            throws IOException {
        this.base = base;
        this.beforeFile = beforeFile;
        this.before = new HashMap<>();
        if (beforeFile != null) {
            beforeFile.parts().forEach(part -> before.put(part.index(), part));
        }
        map = FileMap.of(file);
        baseMap = baseFile == null ? null : FileMap.of(baseFile);
        beforeMap = beforeCopy == null ? null : FileMap.of(beforeCopy);
        channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            baseChannel =
                    baseFile == null ? null : FileChannel.open(baseFile, StandardOpenOption.READ);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    static Sources of(
            S3DurableStore.Parts parts,
            UploadRequest request,
            @Nullable Manifest previous,
            SnapshotTree.Node node,
            Path file)
            throws IOException {
        Path baseFile = regular(request.templateFiles().resolve(node.path()));
        Manifest.Base base = baseFile == null ? null : parts.fingerprints().of(baseFile);
        Manifest.File before = previous == null ? null : previous.file(node.path());
        Path copy = null;
        // What was stored against another base says nothing about this one.
        if (before != null && Objects.equals(base, before.base())) {
            Optional<Path> directory = request.previousDirectory();
            copy = directory.map(at -> regular(at.resolve(node.path()))).orElse(null);
            if (copy != null && Files.size(copy) != before.size()) {
                copy = null;
            }
        }
        return new Sources(file, base, baseFile, copy == null ? null : before, copy);
    }

    private static @Nullable Path regular(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? file : null;
    }

    Manifest.@Nullable Base base() {
        return base;
    }

    Known told(int index, int length) {
        long from = (long) index * Format.CHUNK_BYTES;
        long to = from + length;
        if (beforeMap != null && sameGrid(from, to) && map.isSame(beforeMap, from, to)) {
            return new Known.Before(before.get(index));
        }
        if (baseMap != null && map.isSame(baseMap, from, to)) {
            return BASE;
        }
        return map.isZero(from, to) ? ZEROS : NOTHING;
    }

    /** False for a chunk that had another length then, because the file ended in it. */
    private boolean sameGrid(long from, long to) {
        Manifest.File file = beforeFile;
        return file != null
                && to <= file.size()
                && to - from == file.chunkLength((int) (from / Format.CHUNK_BYTES));
    }

    void read(int index, int length, byte[] into) throws IOException {
        Io.read(channel, (long) index * Format.CHUNK_BYTES, into, length);
    }

    /** True when the manifest need not say that there are zeros. */
    boolean baseIsZero(int index, int length, byte[] scratch) throws IOException {
        long from = (long) index * Format.CHUNK_BYTES;
        if (baseMap == null || baseMap.isZero(from, from + length)) {
            return true;
        }
        readBase(from, length, scratch);
        return Io.isZero(scratch, length);
    }

    boolean baseIs(int index, int length, byte[] content, byte[] scratch) throws IOException {
        if (baseMap == null) {
            return false;
        }
        readBase((long) index * Format.CHUNK_BYTES, length, scratch);
        return Arrays.equals(content, 0, length, scratch, 0, length);
    }

    /** Beyond its end the base has zeros. */
    private void readBase(long from, int length, byte[] into) throws IOException {
        FileChannel there = baseChannel;
        Manifest.Base known = base;
        if (there == null || known == null) {
            throw new IllegalStateException("no base");
        }
        int inside = (int) Math.max(0, Math.min(length, known.size() - from));
        Io.read(there, from, into, inside);
        Arrays.fill(into, inside, length, (byte) 0);
    }

    @Override
    public void close() throws IOException {
        FileChannel there = baseChannel;
        try {
            channel.close();
        } finally {
            if (there != null) {
                there.close();
            }
        }
    }
}
