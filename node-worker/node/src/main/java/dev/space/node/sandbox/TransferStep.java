package dev.space.node.sandbox;

import dev.space.contract.node.DownloadSnapshot;
import dev.space.contract.node.SnapshotTaken;
import dev.space.contract.node.SnapshotUploaded;
import dev.space.contract.node.UploadSnapshot;
import dev.space.contract.session.DurableRef;
import dev.space.durable.DurableSnapshot;
import dev.space.durable.LineageId;
import dev.space.durable.LineageKey;
import dev.space.durable.TransferCancelledException;
import dev.space.durable.TransferControl;
import dev.space.durable.UploadRequest;
import dev.space.model.ErrorCode;
import dev.space.model.Fence;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.node.volumes.SnapshotManifest;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Snapshots to the object store and back. A transfer is alone in its session, and ends as soon as a
 * higher fence waits for it: whoever fences the session knows then that nothing of it goes on.
 */
final class TransferStep {

    private static final Logger LOG = LoggerFactory.getLogger(TransferStep.class);

    /** Free space that a download must find beside the reserve and what it brings. */
    private static final long ROOM_BYTES = 64L << 20;

    private final NodeParts parts;
    private final VmEnds ends;
    private final BooleanSupplier closing;

    /**
     * @param closing the process ends: transfers must
     */
    TransferStep(NodeParts parts, VmEnds ends, BooleanSupplier closing) {
        this.parts = parts;
        this.ends = ends;
        this.closing = closing;
    }

    SnapshotUploaded upload(Session session, UploadSnapshot request, TransferProgress progress) {
        return session.fenced(
                request.ref(),
                () -> {
                    SnapshotManifest manifest =
                            parts.snapshots().requireGood(session.id(), request.snapshot());
                    if (request.runs()) {
                        session.save(session.record());
                    } else {
                        begin(session);
                    }
                    Fence fence = request.ref().fence();
                    return transferred(
                            session, fence, () -> send(session, request, manifest, progress));
                });
    }

    /** A fence that counts is written down first; a VM of before, if one is left, ends. */
    private void begin(Session session) {
        session.save(
                session.record().live() == null
                        ? session.record()
                        : ends.end(session).withoutStartResults());
        parts.crash().at("transfer.begun");
    }

    private SnapshotUploaded send(
            Session session,
            UploadSnapshot request,
            SnapshotManifest manifest,
            TransferProgress progress) {
        final long begin = System.nanoTime();
        Path directory = parts.snapshots().directory(session.id(), request.snapshot());
        DurableRef previous = request.previous();
        DurableSnapshot stored;
        try (LineageKey key = parts.objects().keys().of(session.id())) {
            stored =
                    parts.objects()
                            .store()
                            .upload(
                                    new UploadRequest(
                                            new LineageId(request.lineage()),
                                            key,
                                            session.id().value(),
                                            request.upload(),
                                            directory,
                                            templateFiles(manifest.template()),
                                            Optional.ofNullable(previous).map(TransferStep::stored),
                                            copyOf(session, previous)),
                                    control(session, request.ref().fence(), progress));
        }
        parts.crash().at("upload.done");
        LOG.info(
                "stored {} of {}: {} KiB of {} sent in {} ms",
                request.snapshot(),
                session.id(),
                stored.bytesUploaded() >> 10,
                stored.bytesLogical() >> 10,
                (System.nanoTime() - begin) / 1_000_000);
        return new SnapshotUploaded(
                stored.manifestKey(),
                stored.manifestDigest(),
                stored.bytesStored(),
                stored.bytesUploaded(),
                stored.bytesLogical());
    }

    /** A template that is gone from here costs bytes, nothing else. */
    private Path templateFiles(String digest) {
        try {
            return parts.templates().root(digest);
        } catch (SpaceException e) {
            LOG.info("template {} is not here: its parts are stored too", digest);
            return parts.volume().templates().resolve(digest).resolve("absent");
        }
    }

    private Optional<Path> copyOf(Session session, @Nullable DurableRef previous) {
        return Optional.ofNullable(previous)
                .map(ref -> ref.snapshot().id())
                .filter(id -> parts.snapshots().find(session.id(), id).isPresent())
                .filter(id -> parts.snapshots().damage(session.id(), id).isEmpty())
                .map(id -> parts.snapshots().directory(session.id(), id));
    }

    private static DurableSnapshot stored(DurableRef ref) {
        return new DurableSnapshot(
                ref.manifestKey(),
                ref.manifestDigest(),
                ref.bytesStored(),
                ref.bytesUploaded(),
                ref.bytesLogical());
    }

    SnapshotTaken download(Session session, DownloadSnapshot request, TransferProgress progress) {
        return session.fenced(
                request.ref(),
                () -> {
                    begin(session);
                    SnapshotId wanted = request.source().snapshot().id();
                    var damage = parts.snapshots().damage(session.id(), wanted);
                    var there = parts.snapshots().find(session.id(), wanted);
                    if (damage.isPresent()) {
                        LOG.warn("{} here is damaged ({}) and fetched", wanted, damage.get());
                        parts.snapshots().delete(session.id(), wanted);
                    } else if (there.isPresent()) {
                        return there.get().taken();
                    }
                    Fence fence = request.ref().fence();
                    return transferred(session, fence, () -> fetch(session, request, progress));
                });
    }

    private SnapshotTaken fetch(
            Session session, DownloadSnapshot request, TransferProgress progress) {
        final long begin = System.nanoTime();
        DurableRef source = request.source();
        parts.volume().requireSpace(ROOM_BYTES + source.bytesStored());
        Path root = parts.templates().root(request.template());
        Path staged = parts.volume().newStaging("download");
        try {
            try (LineageKey key = parts.objects().keys().of(session.id())) {
                parts.objects()
                        .store()
                        .download(
                                stored(source),
                                key,
                                staged,
                                root,
                                control(session, request.ref().fence(), progress));
            }
            parts.crash().at("download.staged");
            session.yieldTo(request.ref().fence());
            SnapshotManifest manifest =
                    parts.snapshots().publishFetched(session.id(), staged, source.snapshot().id());
            parts.crash().at("download.published");
            LOG.info(
                    "fetched {} of {} in {} ms",
                    source.snapshot().id(),
                    session.id(),
                    (System.nanoTime() - begin) / 1_000_000);
            return manifest.taken();
        } catch (SimulatedCrash e) {
            throw e;
        } catch (RuntimeException e) {
            parts.volume().discard(staged);
            throw e;
        }
    }

    private TransferControl control(Session session, Fence own, TransferProgress progress) {
        return new TransferControl() {
            @Override
            public boolean cancelled() {
                return closing.getAsBoolean() || session.isOvertaken(own);
            }

            @Override
            public void progress(long done, long total) {
                progress.at(done, total);
            }
        };
    }

    private <T> T transferred(Session session, Fence own, Supplier<T> body) {
        session.transferring(true);
        try {
            return body.get();
        } catch (TransferCancelledException e) {
            session.yieldTo(own);
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the node's process ends", e);
        } finally {
            session.transferring(false);
        }
    }
}
