package dev.space.node.engine.fake;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.engine.spi.GuestPath;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Files of a fake guest, by absolute name. Directories have no content. Not thread safe. */
final class FakeDisk {

    private static final String HOME = "/home/user";

    /** What all files of a fake guest may hold together. */
    static final int BYTES_MAX = 8 << 20;

    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;

    /** One name; {@code content} is base 64, null for a directory. */
    record Entry(boolean directory, String content, int mode, long modifiedNanos) {}

    private final TreeMap<String, Entry> entries = new TreeMap<>();
    private final java.time.InstantSource clock;

    FakeDisk(Map<String, Entry> from, java.time.InstantSource clock) {
        this.clock = clock;
        entries.putAll(from);
        for (String directory : List.of("/", "/home", HOME, "/tmp")) {
            entries.putIfAbsent(directory, new Entry(true, "", DIRECTORY_MODE, now()));
        }
    }

    Map<String, Entry> entries() {
        return new TreeMap<>(entries);
    }

    private long now() {
        return clock.millis() * 1_000_000;
    }

    /** The absolute name, with dots resolved as a kernel without links would. */
    static String name(GuestPath path) {
        return resolve(HOME, path.bytes().toString(StandardCharsets.ISO_8859_1));
    }

    static String resolve(String base, String text) {
        List<String> parts = new ArrayList<>();
        String whole = text.startsWith("/") ? text : base + "/" + text;
        for (String part : whole.split("/", -1)) {
            switch (part) {
                case "", "." -> {}
                case ".." -> {
                    if (!parts.isEmpty()) {
                        parts.removeLast();
                    }
                }
                default -> parts.add(part);
            }
        }
        return "/" + String.join("/", parts);
    }

    static String home() {
        return HOME;
    }

    private static String parent(String name) {
        int slash = name.lastIndexOf('/');
        return slash <= 0 ? "/" : name.substring(0, slash);
    }

    boolean isDirectory(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.directory();
    }

    private Entry require(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw new SpaceException(ErrorCode.FILE_NOT_FOUND, "no such file");
        }
        return entry;
    }

    GuestFile stat(String name) {
        Entry e = require(name);
        String last = name.substring(name.lastIndexOf('/') + 1);
        return new GuestFile(
                latin(name),
                latin(last),
                e.directory() ? "directory" : "file",
                e.directory() ? 0 : bytes(e).size(),
                e.mode(),
                "user",
                "user",
                e.modifiedNanos(),
                ByteString.EMPTY);
    }

    private static ByteString latin(String text) {
        return ByteString.copyFrom(text, StandardCharsets.ISO_8859_1);
    }

    private static ByteString bytes(Entry entry) {
        return ByteString.copyFrom(Base64.getDecoder().decode(entry.content()));
    }

    List<GuestFile> list(String name) {
        if (!require(name).directory()) {
            throw new SpaceException(ErrorCode.FILE_CONFLICT, "not a directory");
        }
        return entries.keySet().stream()
                .filter(n -> !n.equals(name) && parent(n).equals(name))
                .map(this::stat)
                .toList();
    }

    ByteString read(String name) {
        Entry entry = require(name);
        if (entry.directory()) {
            throw new SpaceException(ErrorCode.FILE_CONFLICT, "is a directory");
        }
        return bytes(entry);
    }

    GuestFile write(String name, ByteString content, int mode, boolean parents) {
        prepareParent(name, parents);
        Entry old = entries.get(name);
        if (old != null && old.directory()) {
            throw new SpaceException(ErrorCode.FILE_CONFLICT, "is a directory");
        }
        requireRoom(name, content.size());
        int kept = old == null ? FILE_MODE : old.mode();
        String text = Base64.getEncoder().encodeToString(content.toByteArray());
        entries.put(name, new Entry(false, text, mode == 0 ? kept : mode, now()));
        return stat(name);
    }

    private void requireRoom(String name, long bytes) {
        long others =
                entries.entrySet().stream()
                        .filter(e -> !e.getValue().directory() && !e.getKey().equals(name))
                        .mapToLong(e -> bytes(e.getValue()).size())
                        .sum();
        if (others + bytes > BYTES_MAX) {
            throw new SpaceException(
                    ErrorCode.GUEST_DISK_FULL, "the disk has no room for " + bytes + " bytes");
        }
    }

    private void prepareParent(String name, boolean parents) {
        String parent = parent(name);
        Entry entry = entries.get(parent);
        if (entry == null && parents) {
            makeDirectory(parent, true, 0);
        } else if (entry == null) {
            throw new SpaceException(ErrorCode.FILE_NOT_FOUND, "its directory does not exist");
        } else if (!entry.directory()) {
            throw new SpaceException(ErrorCode.FILE_CONFLICT, "a parent is not a directory");
        }
    }

    GuestFile makeDirectory(String name, boolean parents, int mode) {
        Entry old = entries.get(name);
        if (old != null && old.directory() && parents) {
            return stat(name);
        }
        if (old != null) {
            throw new SpaceException(ErrorCode.ALREADY_EXISTS, "the name is taken");
        }
        prepareParent(name, parents);
        entries.put(name, new Entry(true, "", mode == 0 ? DIRECTORY_MODE : mode, now()));
        return stat(name);
    }

    void remove(String name, boolean recursive) {
        Entry entry = require(name);
        boolean full = entry.directory() && !list(name).isEmpty();
        if ((full && !recursive) || name.equals("/")) {
            throw new SpaceException(ErrorCode.FILE_CONFLICT, "the directory is not empty");
        }
        entries.keySet().removeIf(n -> n.equals(name) || n.startsWith(name + "/"));
    }
}
