package dev.space.durable;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a durable snapshot consists of. Order and identity of everything are said here and nowhere
 * else; a pack is only a heap of sealed chunks.
 */
record Manifest(Names.Owner owner, List<Pack> packs, List<Entry> entries) {

    Manifest {
        packs = List.copyOf(packs);
        entries = List.copyOf(entries);
    }

    /** A pack, which may lie under an earlier upload of the same lineage. */
    record Pack(String session, long snapshot, String name, int length) {

        String key(LineageId lineage) {
            return new Names.Owner(lineage, session, snapshot).pack(name);
        }
    }

    /**
     * A file of the template that a file grew from: where no part is named, its bytes stand.
     *
     * @param digest of its content (Fingerprints), in hexadecimal digits
     */
    record Base(String digest, long size) {

        @Override
        public String toString() {
            return digest;
        }
    }

    /** One chunk of a file that differs from its base: stored, or zeros where there is none. */
    record Part(int index, @Nullable ChunkRef chunk) {

        boolean sameContent(Part other) {
            ChunkRef mine = chunk;
            ChunkRef theirs = other.chunk;
            if (index != other.index) {
                return false;
            }
            return mine == null ? theirs == null : theirs != null && mine.id().equals(theirs.id());
        }
    }

    /** A file or a directory, by its path below the snapshot's directory. */
    sealed interface Entry {
        String path();
    }

    /** A directory; it stands before what is in it. */
    record Directory(String path) implements Entry {}

    /**
     * A file.
     *
     * @param base null where it grew from nothing: then zeros stand where no part is named
     * @param parts in ascending order
     */
    record File(String path, long size, @Nullable Base base, List<Part> parts) implements Entry {

        File {
            parts = List.copyOf(parts);
        }

        int chunks() {
            return chunksOf(size);
        }

        static int chunksOf(long size) {
            return Math.toIntExact((size + Format.CHUNK_BYTES - 1) / Format.CHUNK_BYTES);
        }

        int chunkLength(int index) {
            return (int) Math.min(Format.CHUNK_BYTES, size - (long) index * Format.CHUNK_BYTES);
        }

        private boolean sameContent(File other) {
            if (!path.equals(other.path)
                    || size != other.size
                    || parts.size() != other.parts.size()
                    || !Objects.equals(base, other.base)) {
                return false;
            }
            for (int i = 0; i < parts.size(); i++) {
                if (!parts.get(i).sameContent(other.parts.get(i))) {
                    return false;
                }
            }
            return true;
        }
    }

    /** True when both describe the same files, wherever the chunks lie. */
    boolean sameContent(Manifest other) {
        if (entries.size() != other.entries.size()) {
            return false;
        }
        for (int i = 0; i < entries.size(); i++) {
            Entry mine = entries.get(i);
            Entry theirs = other.entries.get(i);
            boolean same =
                    mine instanceof File a
                            ? theirs instanceof File b && a.sameContent(b)
                            : mine.equals(theirs);
            if (!same) {
                return false;
            }
        }
        return true;
    }

    @Nullable File file(String path) {
        for (Entry entry : entries) {
            if (entry instanceof File file && file.path().equals(path)) {
                return file;
            }
        }
        return null;
    }

    long logicalBytes() {
        return entries.stream().mapToLong(e -> e instanceof File file ? file.size() : 0).sum();
    }

    long packBytes() {
        return packs.stream().mapToLong(Pack::length).sum();
    }
}
