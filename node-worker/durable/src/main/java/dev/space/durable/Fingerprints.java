package dev.space.durable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The content of template files in one number, so that two nodes know whether they mean the same.
 * Chunks of zeros are left out, which makes a sparse file's fingerprint cheap. Files that look
 * unchanged are not read twice.
 */
final class Fingerprints {

    private static final int KNOWN_MAX = 256;

    private record Look(Path file, Object inode, long size, long modified) {}

    private final Map<Look, Manifest.Base> known =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Look, Manifest.Base> eldest) {
                    return size() > KNOWN_MAX;
                }
            };

    Manifest.Base of(Path file) throws IOException {
        BasicFileAttributes at = Files.readAttributes(file, BasicFileAttributes.class);
        Look look =
                new Look(
                        file.toAbsolutePath(),
                        Objects.requireNonNullElse(at.fileKey(), ""),
                        at.size(),
                        at.lastModifiedTime().toMillis());
        synchronized (known) {
            Manifest.Base before = known.get(look);
            if (before != null) {
                return before;
            }
        }
        Manifest.Base read = new Manifest.Base(digest(file, at.size()), at.size());
        synchronized (known) {
            known.put(look, read);
        }
        return read;
    }

    private static String digest(Path file, long size) throws IOException {
        FileMap map = FileMap.of(file);
        MessageDigest digest = sha256();
        ByteBuffer place = ByteBuffer.allocate(Long.BYTES);
        byte[] chunk = new byte[Format.CHUNK_BYTES];
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            for (long at = 0; at < size; at += Format.CHUNK_BYTES) {
                int length = (int) Math.min(Format.CHUNK_BYTES, size - at);
                if (map.isZero(at, at + length)) {
                    continue;
                }
                Io.read(channel, at, chunk, length);
                if (!Io.isZero(chunk, length)) {
                    digest.update(place.putLong(0, at).array());
                    digest.update(chunk, 0, length);
                }
            }
        }
        digest.update(place.putLong(0, size).array());
        return HexFormat.of().formatHex(digest.digest());
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
