package dev.space.node.browse;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.engine.spi.GuestFile;
import dev.space.node.volumes.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the reader tells of one disk image, or of two. */
public final class DiskReader {

    private static final int LINE_BYTES_MAX = 64 << 10;
    private static final int PIECE_BYTES = 64 << 10;

    /**
     * The guest's clock ticks in milliseconds and may be a little off this machine's: a file that
     * was written this short before a disk was cloned is compared whatever its times say.
     */
    private static final long SURE_SECONDS = 10;

    private final ReaderProcess reader;

    public DiskReader(Path program) {
        reader = new ReaderProcess(program);
    }

    /**
     * One difference.
     *
     * @param change added, modified or deleted
     * @param what of a modified one: kind, content, target, mode, owner, time
     * @param sha256 of its content, where it was asked for and there is one
     */
    public record Change(
            String change, List<String> what, @Nullable String sha256, GuestFile file) {

        public Change {
            what = List.copyOf(what);
        }
    }

    public GuestFile stat(Path image, ByteString path) {
        List<GuestFile> found = new ArrayList<>();
        lines(
                List.of("stat", image.toString(), PathText.encode(path)),
                line -> found.add(file(line)));
        if (found.size() != 1) {
            throw new SpaceException(ErrorCode.INTERNAL, "the disk reader answered nothing");
        }
        return found.getFirst();
    }

    public void list(
            Path image, ByteString path, ByteString after, int limit, Consumer<GuestFile> to) {
        lines(
                List.of(
                        "list",
                        image.toString(),
                        PathText.encode(path),
                        PathText.encode(after),
                        Integer.toString(limit)),
                line -> to.accept(file(line)));
    }

    public void read(
            Path image, ByteString path, long offset, long length, Consumer<ByteString> to) {
        reader.run(
                List.of(
                        "read",
                        image.toString(),
                        PathText.encode(path),
                        Long.toString(offset),
                        Long.toString(length)),
                output -> {
                    byte[] piece = output.readNBytes(PIECE_BYTES);
                    while (piece.length > 0) {
                        to.accept(ByteString.copyFrom(piece));
                        piece = output.readNBytes(PIECE_BYTES);
                    }
                });
    }

    public void changes(
            Path from, Path to, ByteString after, int limit, boolean hash, Consumer<Change> each) {
        lines(
                List.of(
                        "changes",
                        from.toString(),
                        to.toString(),
                        PathText.encode(after),
                        Integer.toString(limit),
                        Long.toString(clonedAtSeconds(from) - SURE_SECONDS),
                        hash ? "hash" : "plain"),
                line -> each.accept(change(line)));
    }

    private static long clonedAtSeconds(Path image) {
        try {
            return Files.getLastModifiedTime(image).to(TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new SpaceException(ErrorCode.SNAPSHOT_NOT_FOUND, image + " is gone", e);
        }
    }

    private void lines(List<String> words, Consumer<JsonNode> each) {
        reader.run(
                words,
                output -> {
                    byte[] line = line(output);
                    while (line.length > 0) {
                        each.accept(Json.MAPPER.readTree(line));
                        line = line(output);
                    }
                });
    }

    /** Empty at the end. */
    private static byte[] line(InputStream output) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next = output.read();
        while (next >= 0 && next != '\n') {
            if (line.size() == LINE_BYTES_MAX) {
                throw new IOException("a line has more than " + LINE_BYTES_MAX + " bytes");
            }
            line.write(next);
            next = output.read();
        }
        return line.toByteArray();
    }

    private static Change change(JsonNode line) {
        List<String> what = new ArrayList<>();
        line.path("what").forEach(one -> what.add(one.asText()));
        return new Change(
                line.path("change").asText(),
                what,
                line.hasNonNull("sha256") ? line.get("sha256").asText() : null,
                file(line));
    }

    private static GuestFile file(JsonNode line) {
        ByteString path = PathText.decode(line.path("path").asText());
        int name = path.toString(StandardCharsets.ISO_8859_1).lastIndexOf('/') + 1;
        return new GuestFile(
                path,
                name == path.size() ? path : path.substring(name),
                line.path("kind").asText(),
                line.path("size").asLong(),
                line.path("mode").asInt(),
                line.path("owner").asText(),
                line.path("group").asText(),
                line.path("modifiedNanos").asLong(),
                PathText.decode(line.path("target").asText("")));
    }
}
