package dev.space.durable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The file list inside a manifest. Reading believes nothing: every number has its bounds. */
final class ManifestBody {

    private static final int DIRECTORY = 0;
    private static final int FILE = 1;
    private static final int ZEROS = 0;
    private static final int CHUNK = 1;
    private static final int DIGEST_BYTES = 32;

    private ManifestBody() {}

    static byte[] write(List<Manifest.Entry> entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(entries.size());
        for (Manifest.Entry entry : entries) {
            switch (entry) {
                case Manifest.Directory directory -> {
                    out.writeByte(DIRECTORY);
                    out.writeUTF(directory.path());
                }
                case Manifest.File file -> write(out, file);
            }
        }
        return bytes.toByteArray();
    }

    private static void write(DataOutputStream out, Manifest.File file) throws IOException {
        out.writeByte(FILE);
        out.writeUTF(file.path());
        out.writeLong(file.size());
        Manifest.Base base = file.base();
        out.writeBoolean(base != null);
        if (base != null) {
            out.write(HexFormat.of().parseHex(base.digest()));
            out.writeLong(base.size());
        }
        out.writeInt(file.parts().size());
        for (Manifest.Part part : file.parts()) {
            out.writeInt(part.index());
            ChunkRef chunk = part.chunk();
            out.writeByte(chunk == null ? ZEROS : CHUNK);
            if (chunk != null) {
                out.write(chunk.id().bytes());
                out.writeInt(chunk.pack());
                out.writeInt(chunk.offset());
                out.writeInt(chunk.sealed());
                out.writeInt(chunk.length());
            }
        }
    }

    static List<Manifest.Entry> read(byte[] body, List<Manifest.Pack> packs) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(body));
        int count = bounded(in.readInt(), Format.ENTRIES_MAX, "files");
        List<Manifest.Entry> entries = new ArrayList<>();
        Set<String> directories = new HashSet<>(Set.of(""));
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < count; i++) {
            int kind = in.readUnsignedByte();
            String path = path(in.readUTF(), directories, seen);
            if (kind == DIRECTORY) {
                directories.add(path);
                entries.add(new Manifest.Directory(path));
            } else if (kind == FILE) {
                entries.add(file(in, path, packs));
            } else {
                throw new IOException("an entry has the kind " + kind);
            }
        }
        if (in.available() != 0) {
            throw new IOException("it goes on after its end");
        }
        return entries;
    }

    private static String path(String path, Set<String> directories, Set<String> seen)
            throws IOException {
        if (!SnapshotTree.isPath(path) || !seen.add(path)) {
            throw new IOException("it names a file twice or by an impossible name");
        }
        String parent = path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : "";
        if (!directories.contains(parent)) {
            throw new IOException("it names a file before its directory");
        }
        return path;
    }

    private static Manifest.File file(DataInputStream in, String path, List<Manifest.Pack> packs)
            throws IOException {
        long size = in.readLong();
        if (size < 0 || size > Format.FILE_BYTES_MAX) {
            throw new IOException(path + " has a size of " + size);
        }
        Manifest.@Nullable Base base = in.readBoolean() ? base(in) : null;
        Manifest.File empty = new Manifest.File(path, size, base, List.of());
        int count = bounded(in.readInt(), empty.chunks(), "parts of " + path);
        List<Manifest.Part> parts = new ArrayList<>(count);
        int before = -1;
        for (int i = 0; i < count; i++) {
            int index = bounded(in.readInt(), empty.chunks() - 1, "index in " + path);
            if (index <= before) {
                throw new IOException("the parts of " + path + " are out of order");
            }
            before = index;
            parts.add(part(in, empty, index, packs));
        }
        return new Manifest.File(path, size, base, parts);
    }

    private static Manifest.Base base(DataInputStream in) throws IOException {
        byte[] digest = in.readNBytes(DIGEST_BYTES);
        long size = in.readLong();
        if (digest.length != DIGEST_BYTES || size < 0 || size > Format.FILE_BYTES_MAX) {
            throw new IOException("a base has a size of " + size);
        }
        return new Manifest.Base(HexFormat.of().formatHex(digest), size);
    }

    private static Manifest.Part part(
            DataInputStream in, Manifest.File file, int index, List<Manifest.Pack> packs)
            throws IOException {
        int kind = in.readUnsignedByte();
        if (kind == ZEROS) {
            return new Manifest.Part(index, null);
        }
        if (kind != CHUNK) {
            throw new IOException("a part has the kind " + kind);
        }
        byte[] id = in.readNBytes(ChunkId.BYTES);
        if (id.length != ChunkId.BYTES) {
            throw new IOException("it ends too early");
        }
        int pack = bounded(in.readInt(), packs.size() - 1, "pack of a chunk");
        int offset = in.readInt();
        int sealed = in.readInt();
        int length = in.readInt();
        boolean fits =
                offset >= PackWriter.MAGIC_BYTES
                        && sealed > ChunkSealer.OVERHEAD_BYTES
                        && sealed <= Format.CHUNK_BYTES + ChunkSealer.OVERHEAD_BYTES
                        && (long) offset + sealed <= packs.get(pack).length()
                        && length == file.chunkLength(index);
        if (!fits) {
            throw new IOException("chunk " + index + " of " + file.path() + " lies nowhere");
        }
        return new Manifest.Part(
                index, new ChunkRef(new ChunkId(id), pack, offset, sealed, length));
    }

    static int bounded(int value, int max, String what) throws IOException {
        if (value < 0 || value > max) {
            throw new IOException(value + " " + what + ", at most " + max + " are possible");
        }
        return value;
    }
}
