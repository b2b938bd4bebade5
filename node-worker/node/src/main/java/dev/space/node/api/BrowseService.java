package dev.space.node.api;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.node.browse.DiskReader;
import dev.space.node.browse.Disks;
import dev.space.node.engine.spi.GuestFile;
import dev.space.nodeapi.v1.DiskFileRequest;
import dev.space.nodeapi.v1.DiskRef;
import dev.space.nodeapi.v1.FileChange;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.ListChangesRequest;
import dev.space.nodeapi.v1.ListDiskRequest;
import dev.space.nodeapi.v1.NodeBrowseGrpc;
import dev.space.nodeapi.v1.ReadDiskRequest;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Files on disks that no sandbox uses, over gRPC. */
public final class BrowseService extends NodeBrowseGrpc.NodeBrowseImplBase {

    private final Disks disks;
    private final @Nullable DiskReader reader;

    /**
     * @param reader null where the node has none
     */
    public BrowseService(Disks disks, @Nullable DiskReader reader) {
        this.disks = disks;
        this.reader = reader;
    }

    private DiskReader reader() {
        if (reader == null) {
            throw new SpaceException(
                    ErrorCode.NOT_AVAILABLE, "this node has no disk reader (space.node.reader)");
        }
        return reader;
    }

    private Disks.Disk open(DiskRef disk) {
        if (!disk.getTemplateDigest().isEmpty()) {
            return disks.template(disk.getTemplateDigest(), Wire.size(disk.getSize()));
        }
        SessionId session = new SessionId(disk.getSessionId());
        return disk.getSnapshotId().isEmpty()
                ? disks.now(session)
                : disks.snapshot(session, new SnapshotId(disk.getSnapshotId()));
    }

    private static ByteString path(DiskFileRequest file) {
        ByteString path = file.getPath();
        if (path.isEmpty() || path.byteAt(0) != '/' || path.size() > Limits.PATH_BYTES_MAX) {
            throw Wire.invalid(
                    "a path on a disk begins with / and has at most %d bytes"
                            .formatted(Limits.PATH_BYTES_MAX));
        }
        return path;
    }

    @Override
    public void statDiskFile(DiskFileRequest request, StreamObserver<FileInfo> caller) {
        Calls.unary(
                caller,
                () -> {
                    try (Disks.Disk disk = open(request.getDisk())) {
                        return Wire.file(reader().stat(disk.image(), path(request)));
                    }
                });
    }

    @Override
    public void listDiskDirectory(ListDiskRequest request, StreamObserver<FileInfo> caller) {
        FlowSender<FileInfo> sender = new FlowSender<>(caller);
        DiskFileRequest directory = request.getDirectory();
        sender.run(() -> {
            try (Disks.Disk disk = open(directory.getDisk())) {
                reader().list(
                                disk.image(),
                                path(directory),
                                request.getAfter(),
                                request.getLimit(),
                                file -> sender.send(Wire.file(file)));
            }
        });
    }

    @Override
    public void readDiskFile(ReadDiskRequest request, StreamObserver<FileChunk> caller) {
        FlowSender<FileChunk> sender = new FlowSender<>(caller);
        sender.run(() -> {
            if (request.getOffset() < 0) {
                throw Wire.invalid("an offset cannot be negative");
            }
            try (Disks.Disk disk = open(request.getFile().getDisk())) {
                send(request, disk, sender::send);
            }
        });
    }

    private void send(ReadDiskRequest request, Disks.Disk disk, Consumer<FileChunk> to) {
        ByteString path = path(request.getFile());
        GuestFile file = reader().stat(disk.image(), path);
        to.accept(FileChunk.newBuilder().setInfo(Wire.file(file)).build());
        long length = request.getLength() < 0 ? Long.MAX_VALUE : request.getLength();
        reader().read(
                        disk.image(),
                        path,
                        request.getOffset(),
                        length,
                        data -> to.accept(FileChunk.newBuilder().setData(data).build()));
    }

    @Override
    public void listChanges(ListChangesRequest request, StreamObserver<FileChange> caller) {
        FlowSender<FileChange> sender = new FlowSender<>(caller);
        sender.run(() -> {
            try (Disks.Disk from = open(request.getFrom());
                    Disks.Disk to = open(request.getTo())) {
                reader().changes(
                                from.image(),
                                to.image(),
                                request.getAfter(),
                                request.getLimit(),
                                request.getHash(),
                                change -> sender.send(change(change)));
            }
        });
    }

    private static FileChange change(DiskReader.Change change) {
        String sha256 = change.sha256();
        return FileChange.newBuilder()
                .setChange(change.change())
                .addAllWhat(change.what())
                .setSha256(sha256 == null ? "" : sha256)
                .setFile(Wire.file(change.file()))
                .build();
    }
}
