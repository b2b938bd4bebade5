package dev.space.node.reports;

import com.google.protobuf.ByteString;
import dev.space.durable.DurableSnapshot;
import dev.space.durable.DurableStore;
import dev.space.durable.LineageId;
import dev.space.durable.LineageKey;
import dev.space.durable.TransferControl;
import dev.space.durable.UploadRequest;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.node.templates.TemplateStore;
import dev.space.nodeapi.NodeErrors;
import dev.space.nodeapi.v1.BeginTemplateReply;
import dev.space.nodeapi.v1.BeginTemplateRequest;
import dev.space.nodeapi.v1.CompleteTemplateRequest;
import dev.space.nodeapi.v1.FindTemplateRequest;
import dev.space.nodeapi.v1.StoredTemplate;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Templates stored as snapshots are: chunks, packs and a manifest, in a lineage that is the
 * installation's own. The control plane knows which of them are whole, and their key.
 */
public final class ControlPlaneTemplates implements TemplateStore {

    private static final LineageId LINEAGE = new LineageId("templates");

    private final ControlPlane control;
    private final DurableStore store;
    private final String nodeId;

    public ControlPlaneTemplates(ControlPlane control, DurableStore store, String nodeId) {
        this.control = control;
        this.store = store;
        this.nodeId = nodeId;
    }

    @Override
    public Optional<Located> find(String digest) {
        return ask(digest, "").map(ControlPlaneTemplates::located);
    }

    @Override
    public Optional<Located> named(String name) {
        return ask("", name).map(ControlPlaneTemplates::located);
    }

    private static Located located(StoredTemplate stored) {
        return new Located(
                stored.getDigest(),
                stored.getName(),
                stored.getBytesStored(),
                stored.getBytesLogical());
    }

    private Optional<StoredTemplate> ask(String digest, String name) {
        try {
            return Optional.of(
                    asked(() ->
                            control.findTemplate(
                                    FindTemplateRequest.newBuilder()
                                            .setNodeId(nodeId)
                                            .setDigest(digest)
                                            .setName(name)
                                            .build())));
        } catch (SpaceException e) {
            if (e.code() == ErrorCode.UNKNOWN_TEMPLATE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private <T> T asked(Supplier<T> call) {
        try {
            return call.get();
        } catch (StatusRuntimeException e) {
            SpaceException known = NodeErrors.toException(e, nodeId);
            throw known.code() == ErrorCode.NODE_UNREACHABLE
                    ? new SpaceException(
                            ErrorCode.UNAVAILABLE,
                            "the control plane does not tell which templates are stored",
                            e)
                    : known;
        }
    }

    @Override
    public void fetch(String digest, Path staging, TransferControl control) {
        StoredTemplate stored =
                ask(digest, "")
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.UNKNOWN_TEMPLATE,
                                        "the object store does not have template " + digest));
        try (LineageKey key = key(stored.getKey())) {
            store.download(snapshot(stored), key, staging, nothing(staging), control);
        }
    }

    /** A template is stored as it is, not as changes against another. */
    private static Path nothing(Path directory) {
        return directory.resolve("none");
    }

    @Override
    public boolean publish(String digest, String name, Path directory, TransferControl transfer) {
        BeginTemplateReply begun =
                asked(() ->
                        control.beginTemplate(
                                BeginTemplateRequest.newBuilder()
                                        .setNodeId(nodeId)
                                        .setDigest(digest)
                                        .setName(name)
                                        .build()));
        if (begun.getUpload() == 0) {
            return false;
        }
        DurableSnapshot stored;
        try (LineageKey key = key(begun.getKey())) {
            stored =
                    store.upload(
                            new UploadRequest(
                                    LINEAGE,
                                    key,
                                    digest,
                                    begun.getUpload(),
                                    directory,
                                    nothing(directory),
                                    begun.hasPrevious()
                                            ? Optional.of(snapshot(begun.getPrevious()))
                                            : Optional.empty(),
                                    Optional.empty()),
                            transfer);
        }
        complete(digest, name, begun.getUpload(), stored);
        return true;
    }

    private void complete(String digest, String name, long upload, DurableSnapshot stored) {
        CompleteTemplateRequest request =
                CompleteTemplateRequest.newBuilder()
                        .setNodeId(nodeId)
                        .setDigest(digest)
                        .setUpload(upload)
                        .setStored(
                                StoredTemplate.newBuilder()
                                        .setDigest(digest)
                                        .setName(name)
                                        .setManifestKey(stored.manifestKey())
                                        .setManifestDigest(stored.manifestDigest())
                                        .setBytesStored(stored.bytesStored())
                                        .setBytesUploaded(stored.bytesUploaded())
                                        .setBytesLogical(stored.bytesLogical()))
                        .build();
        var _ =
                asked(() -> {
                    control.completeTemplate(request);
                    return true;
                });
    }

    private static LineageKey key(ByteString bytes) {
        byte[] key = bytes.toByteArray();
        try {
            return new LineageKey(key);
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    private static DurableSnapshot snapshot(StoredTemplate stored) {
        return new DurableSnapshot(
                stored.getManifestKey(),
                stored.getManifestDigest(),
                stored.getBytesStored(),
                stored.getBytesUploaded(),
                stored.getBytesLogical());
    }
}
