package dev.space.durable;

import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.nativeabi.NativeException;
import dev.space.nativeabi.Reflink;
import dev.space.nativeabi.SparseFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * One download: clones of the template's files, over which every chunk is written after it was
 * verified. Whatever ends it early leaves the directory empty.
 */
final class Download {

    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** What some file systems answer to a control call that they do not know. */
    private static final int NOT_A_TERMINAL = 25;

    private final S3DurableStore.Parts parts;
    private final LineageId lineage;
    private final LineageKeys keys;
    private final Path staging;
    private final Path templateFiles;
    private final TransferControl control;
    private final AtomicLong done = new AtomicLong();

    Download(
            S3DurableStore.Parts parts,
            LineageId lineage,
            LineageKeys keys,
            Path staging,
            Path templateFiles,
            TransferControl control) {
        this.parts = parts;
        this.lineage = lineage;
        this.keys = keys;
        this.staging = staging;
        this.templateFiles = templateFiles;
        this.control = control;
    }

    void run(DurableSnapshot snapshot) {
        requireEmpty();
        Transfers transfers = new Transfers(parts.executor(), control);
        boolean whole = false;
        try {
            Transfers.checkCancelled(control);
            Manifest manifest = ManifestObjects.require(parts.store(), snapshot, keys);
            for (Manifest.Entry entry : manifest.entries()) {
                make(entry);
            }
            fill(manifest, transfers);
            Io.sync(staging);
            whole = true;
        } catch (IOException e) {
            throw Io.failed("write the snapshot to " + staging, e);
        } catch (UncheckedIOException e) {
            throw Io.failed("write the snapshot to " + staging, new IOException(e.getCause()));
        } finally {
            if (!whole) {
                transfers.drain();
                leaveNothing();
            }
        }
    }

    private void requireEmpty() {
        try (Stream<Path> there = Files.list(staging)) {
            if (there.findAny().isPresent()) {
                throw new IllegalArgumentException(staging + " is not empty");
            }
        } catch (IOException e) {
            throw Io.failed("look into " + staging, e);
        }
    }

    private void leaveNothing() {
        try {
            Io.empty(staging);
        } catch (IOException e) {
            throw Io.failed("empty " + staging, e);
        }
    }

    private void make(Manifest.Entry entry) throws IOException {
        Path path = staging.resolve(entry.path());
        switch (entry) {
            case Manifest.Directory _ -> {
                var _ = Files.createDirectory(path, PRIVATE_DIRECTORY);
            }
            case Manifest.File file -> {
                Manifest.Base base = file.base();
                if (base == null) {
                    var _ = Files.createFile(path, PRIVATE_FILE);
                } else {
                    cloneBase(file, base, path);
                }
                resize(path, file.size());
                if (base != null) {
                    makeZeros(file, path);
                }
            }
        }
    }

    private void cloneBase(Manifest.File file, Manifest.Base base, Path target) throws IOException {
        Path source = templateFiles.resolve(file.path());
        if (!Files.isRegularFile(source, LinkOption.NOFOLLOW_LINKS)
                || !base.equals(parts.fingerprints().of(source))) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_INCOMPATIBLE,
                    "the snapshot is stored as changes against the template's "
                            + file.path()
                            + " "
                            + base
                            + ", which this node does not have");
        }
        try {
            Reflink.clone(source, target);
        } catch (NativeException e) {
            switch (e.errno()) {
                case NativeException.EOPNOTSUPP,
                        NativeException.EXDEV,
                        NativeException.EINVAL,
                        NOT_A_TERMINAL ->
                        copy(source, target);
                default -> throw e;
            }
        }
    }

    private static void copy(Path source, Path target) throws IOException {
        Files.deleteIfExists(target);
        var _ = Files.createFile(target, PRIVATE_FILE);
        FileMap map = FileMap.of(source);
        byte[] chunk = new byte[Format.CHUNK_BYTES];
        try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel to = FileChannel.open(target, StandardOpenOption.WRITE)) {
            long size = from.size();
            for (long at = 0; at < size; at += Format.CHUNK_BYTES) {
                int length = (int) Math.min(Format.CHUNK_BYTES, size - at);
                if (!map.isZero(at, at + length)) {
                    Io.read(from, at, chunk, length);
                    Io.write(to, at, chunk, length);
                }
            }
        }
    }

    private static void resize(Path file, long size) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            long now = channel.size();
            if (now > size) {
                var _ = channel.truncate(size);
            } else if (now < size) {
                var _ = channel.write(ByteBuffer.allocate(1), size - 1);
            }
        }
    }

    private static void makeZeros(Manifest.File file, Path path) throws IOException {
        for (Manifest.Part part : file.parts()) {
            if (part.chunk() != null) {
                continue;
            }
            long at = (long) part.index() * Format.CHUNK_BYTES;
            int length = file.chunkLength(part.index());
            try {
                SparseFile.punchHole(path, at, length);
            } catch (NativeException e) {
                if (e.errno() != NativeException.EOPNOTSUPP) {
                    throw e;
                }
                try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                    Io.write(channel, at, new byte[length], length);
                }
            }
        }
    }

    private void fill(Manifest manifest, Transfers transfers) {
        List<ChunkReads.Range> ranges = ChunkReads.of(manifest);
        long total = ranges.stream().mapToLong(ChunkReads.Range::length).sum();
        for (ChunkReads.Range range : ranges) {
            if (transfers.isOver()) {
                break;
            }
            byte[] buffer = parts.buffers().take(control);
            transfers.start(() -> {
                try {
                    if (!transfers.isOver()) {
                        fetch(range, buffer);
                        control.progress(done.addAndGet(range.length()), total);
                    }
                } finally {
                    parts.buffers().give();
                }
            });
        }
        transfers.await();
        Transfers.checkCancelled(control);
    }

    private void fetch(ChunkReads.Range range, byte[] buffer) {
        String key = range.pack().key(lineage);
        String fault = PackReader.read(parts.store(), key, range, buffer);
        if (fault != null) {
            throw Corruption.of(fault);
        }
        try (TargetFiles files = new TargetFiles(staging)) {
            PackReader.open(
                    new ChunkSealer(keys),
                    key,
                    range,
                    buffer,
                    (target, content) -> files.write(target, content),
                    damaged -> {
                        throw Corruption.of(damaged);
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
