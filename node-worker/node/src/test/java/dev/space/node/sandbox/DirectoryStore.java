package dev.space.node.sandbox;

import dev.space.durable.DurableSnapshot;
import dev.space.durable.DurableStore;
import dev.space.durable.LineageKey;
import dev.space.durable.TransferCancelledException;
import dev.space.durable.TransferControl;
import dev.space.durable.UploadRequest;
import dev.space.durable.Verification;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** An object store that is a directory: whole copies, and a manifest that comes last. */
final class DirectoryStore implements DurableStore {

    private static final String MANIFEST = "complete";

    private final Path root;

    /** Called before each file of a transfer. */
    volatile Runnable onFile = () -> {};

    /** What uploads were built on. */
    final List<String> previous = new ArrayList<>();

    DirectoryStore(Path root) {
        this.root = root;
    }

    @Override
    public DurableSnapshot upload(UploadRequest request, TransferControl control) {
        request.previous().ifPresent(p -> previous.add(p.manifestKey()));
        String key = request.lineage() + "/" + request.session() + "/" + request.snapshot();
        Path to = root.resolve(key);
        long bytes = copy(request.directory(), to.resolve("files"), control);
        write(to.resolve(MANIFEST), request.lineage().value());
        return new DurableSnapshot(key, "digest", bytes, bytes, bytes);
    }

    @Override
    public void download(
            DurableSnapshot snapshot,
            LineageKey key,
            Path staging,
            Path templateFiles,
            TransferControl control) {
        Path from = root.resolve(snapshot.manifestKey());
        if (!Files.exists(from.resolve(MANIFEST))) {
            throw new SpaceException(ErrorCode.SNAPSHOT_CORRUPT, "no manifest");
        }
        copy(from.resolve("files"), staging, control);
    }

    @Override
    public Verification verify(DurableSnapshot snapshot, LineageKey key, TransferControl control) {
        throw new UnsupportedOperationException();
    }

    private long copy(Path from, Path to, TransferControl control) {
        long bytes = 0;
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : all.sorted().toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                    continue;
                }
                onFile.run();
                if (control.cancelled()) {
                    throw new TransferCancelledException("the copy");
                }
                Files.deleteIfExists(target);
                Files.copy(file, target);
                bytes += Files.size(file);
                control.progress(bytes, bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes;
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The file of a stored snapshot. */
    Path file(String key, String name) {
        return root.resolve(key).resolve("files").resolve(name);
    }
}
