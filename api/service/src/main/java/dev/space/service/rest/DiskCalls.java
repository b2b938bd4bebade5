package dev.space.service.rest;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.nodeapi.NodeChannels;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.DiskFileRequest;
import dev.space.nodeapi.v1.DiskRef;
import dev.space.nodeapi.v1.FileChange;
import dev.space.nodeapi.v1.FileChunk;
import dev.space.nodeapi.v1.FileInfo;
import dev.space.nodeapi.v1.ListChangesRequest;
import dev.space.nodeapi.v1.ListDiskRequest;
import dev.space.nodeapi.v1.NodeBrowseGrpc;
import dev.space.nodeapi.v1.ReadDiskRequest;
import dev.space.store.NodeStore;
import dev.space.store.view.SessionEntity;
import dev.space.store.view.SnapshotEntity;
import dev.space.store.view.Views;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Finds the disks that a request names, and asks the node that has them. */
@Singleton
public class DiskCalls {
    /** Comparing or hashing a whole disk takes its time; the node's reader ends before. */
    private static final Duration CALL_MAX = Duration.ofMinutes(10);

    private final Views.Sessions sessions;
    private final Views.Snapshots snapshots;
    private final NodeStore nodes;
    private final NodeChannels channels;

    @Inject
    public DiskCalls(
            Views.Sessions sessions,
            Views.Snapshots snapshots,
            NodeStore nodes,
            NodeChannels channels) {
        this.sessions = sessions;
        this.snapshots = snapshots;
        this.nodes = nodes;
        this.channels = channels;
    }

    /** A disk and the node that has it. */
    record Disk(String node, DiskRef ref) {

        DiskFileRequest file(ByteString path) {
            return DiskFileRequest.newBuilder().setDisk(ref).setPath(path).build();
        }
    }

    private interface Body<T> {
        T run() throws StatusException, InterruptedException;
    }

    private SessionEntity session(String project, SessionId session) {
        sessions.getEntityManager().clear();
        return sessions.of(project, session.value())
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.NOT_FOUND, "there is no session " + session));
    }

    Disk snapshot(String project, SessionId session, SnapshotId snapshot) {
        var _ = session(project, session);
        SnapshotEntity row =
                snapshots
                        .listed(session.value(), snapshot.value())
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.SNAPSHOT_NOT_FOUND,
                                        session + " has no snapshot " + snapshot));
        return new Disk(
                onNode(row.nodeId, "snapshot " + snapshot),
                DiskRef.newBuilder()
                        .setSessionId(session.value())
                        .setSnapshotId(snapshot.value())
                        .build());
    }

    /** The session's disk as it is when it is asked for. */
    Disk now(String project, SessionId session) {
        SessionEntity row = session(project, session);
        if (row.tombstoneAt != null) {
            throw new SpaceException(ErrorCode.GONE, "session " + session + " was destroyed");
        }
        return new Disk(
                onNode(row.nodeId, "the session"),
                DiskRef.newBuilder().setSessionId(session.value()).build());
    }

    /** What the session's template begins with, on the node of the other disk. */
    Disk template(String project, SessionId session, String node) {
        SessionEntity row = session(project, session);
        return new Disk(
                node,
                DiskRef.newBuilder()
                        .setTemplateDigest(row.templateDigest)
                        .setSize(row.size)
                        .build());
    }

    private static String onNode(@Nullable String node, String what) {
        if (node == null) {
            throw new SpaceException(ErrorCode.SNAPSHOT_NOT_FOUND, what + " is on no node now");
        }
        return node;
    }

    FileInfo stat(Disk disk, ByteString path) {
        return asked(disk, () -> stub(disk).statDiskFile(disk.file(path)));
    }

    /** At most one more than the limit, so that the caller knows whether there are more. */
    List<FileInfo> list(Disk disk, ByteString path, ByteString after, int limit) {
        return asked(
                disk,
                () ->
                        all(
                                stub(disk)
                                        .listDiskDirectory(
                                                ListDiskRequest.newBuilder()
                                                        .setDirectory(disk.file(path))
                                                        .setAfter(after)
                                                        .setLimit(limit + 1)
                                                        .build())));
    }

    /** At most one more than the limit. */
    List<FileChange> changes(Disk from, Disk to, ByteString after, int limit, boolean hash) {
        if (!from.node().equals(to.node())) {
            throw new SpaceException(
                    ErrorCode.SNAPSHOT_NOT_FOUND,
                    "the two are on different nodes, %s and %s".formatted(from.node(), to.node()));
        }
        return asked(
                to,
                () ->
                        all(
                                stub(to).listChanges(
                                                ListChangesRequest.newBuilder()
                                                        .setFrom(from.ref())
                                                        .setTo(to.ref())
                                                        .setAfter(after)
                                                        .setLimit(limit + 1)
                                                        .setHash(hash)
                                                        .build())));
    }

    FileStreams.Reading read(Disk disk, ByteString path, long offset, long length) {
        return asked(
                disk,
                () -> {
                    BlockingClientCall<?, FileChunk> call =
                            stub(disk)
                                    .readDiskFile(
                                            ReadDiskRequest.newBuilder()
                                                    .setFile(disk.file(path))
                                                    .setOffset(offset)
                                                    .setLength(length)
                                                    .build());
                    return new FileStreams.Reading(call, call.read(), disk.node());
                });
    }

    private static <T> List<T> all(BlockingClientCall<?, T> call)
            throws StatusException, InterruptedException {
        List<T> all = new ArrayList<>();
        T next = call.read();
        while (next != null) {
            all.add(next);
            next = call.read();
        }
        return all;
    }

    private NodeBrowseGrpc.NodeBrowseBlockingV2Stub stub(Disk disk) {
        String address =
                nodes.address(disk.node())
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.NODE_UNREACHABLE,
                                        "node " + disk.node() + " never registered"));
        return NodeBrowseGrpc.newBlockingV2Stub(channels.to(address))
                .withDeadlineAfter(CALL_MAX.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static <T> T asked(Disk disk, Body<T> body) {
        try {
            return body.run();
        } catch (StatusException failure) {
            throw NodeErrors.toException(failure, disk.node());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new SpaceException(ErrorCode.UNAVAILABLE, "the server is stopping", stop);
        }
    }
}
