package dev.space.node.volumes;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;

/**
 * A manifest as a file: a line of JSON, and a line with its checksum. One of a release that wrote
 * no checksum has none.
 */
final class ManifestFile {

    private ManifestFile() {}

    static byte[] bytes(SnapshotManifest manifest) throws IOException {
        byte[] json = Json.MAPPER.writeValueAsBytes(manifest);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(json);
        out.writeBytes(("\n" + sum(json, json.length)).getBytes(StandardCharsets.US_ASCII));
        return out.toByteArray();
    }

    static SnapshotManifest read(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int end = 0;
        while (end < content.length && content[end] != '\n') {
            end++;
        }
        if (end < content.length) {
            String sum =
                    new String(
                            content, end + 1, content.length - end - 1, StandardCharsets.US_ASCII);
            if (!sum.equals(sum(content, end))) {
                throw new IOException("the checksum does not fit");
            }
        }
        return Json.MAPPER.readValue(content, 0, end, SnapshotManifest.class);
    }

    private static String sum(byte[] content, int length) {
        CRC32 sum = new CRC32();
        sum.update(content, 0, length);
        return "crc32 %08x".formatted(sum.getValue());
    }
}
