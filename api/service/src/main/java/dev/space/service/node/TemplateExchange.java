package dev.space.service.node;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.SpaceException;
import dev.space.nodeapi.v1.BeginTemplateReply;
import dev.space.nodeapi.v1.BeginTemplateRequest;
import dev.space.nodeapi.v1.CompleteTemplateRequest;
import dev.space.nodeapi.v1.FindTemplateRequest;
import dev.space.nodeapi.v1.StoredTemplate;
import dev.space.service.key.LineageKeys;
import dev.space.store.NodeStore;
import dev.space.store.TemplateRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Arrays;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jboss.logging.Logger;

/** Templates that one node stores and another fetches. Every node may have every template. */
@Singleton
public class TemplateExchange {
    private static final Logger LOG = Logger.getLogger(TemplateExchange.class);
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,39}");

    private final TemplateRows rows;
    private final NodeStore nodes;
    private final LineageKeys keys;

    @Inject
    public TemplateExchange(TemplateRows rows, NodeStore nodes, LineageKeys keys) {
        this.rows = rows;
        this.nodes = nodes;
        this.keys = keys;
    }

    BeginTemplateReply begin(BeginTemplateRequest request) {
        demand(DIGEST, request.getDigest(), "digest");
        demand(NAME, request.getName(), "name");
        return rows.begin(request.getNodeId(), request.getDigest(), request.getName())
                .map(begun ->
                        withKey(key -> {
                            BeginTemplateReply.Builder reply =
                                    BeginTemplateReply.newBuilder()
                                            .setUpload(begun.number())
                                            .setKey(key);
                            begun.previous().ifPresent(p -> reply.setPrevious(message(p)));
                            return reply.build();
                        }))
                .orElse(BeginTemplateReply.getDefaultInstance());
    }

    void complete(CompleteTemplateRequest request) {
        StoredTemplate stored = request.getStored();
        rows.complete(
                request.getNodeId(),
                request.getUpload(),
                new TemplateRows.Stored(
                        request.getDigest(),
                        stored.getName(),
                        stored.getManifestKey(),
                        stored.getManifestDigest(),
                        stored.getBytesStored(),
                        stored.getBytesUploaded(),
                        stored.getBytesLogical()));
        LOG.infof(
                "template %s is stored by node %s: %d KiB of %d sent",
                request.getDigest(),
                request.getNodeId(),
                stored.getBytesUploaded() >> 10,
                stored.getBytesLogical() >> 10);
    }

    StoredTemplate find(FindTemplateRequest request) {
        String digest = request.getDigest();
        if (digest.isEmpty()) {
            demand(NAME, request.getName(), "name");
            digest =
                    nodes.templateDigest(request.getName())
                            .orElseThrow(() ->
                                    new SpaceException(
                                            ErrorCode.UNKNOWN_TEMPLATE,
                                            "no node has told of a template " + request.getName()));
        }
        demand(DIGEST, digest, "digest");
        String wanted = digest;
        TemplateRows.Stored stored =
                rows.find(wanted)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.UNKNOWN_TEMPLATE,
                                        "the object store does not have template " + wanted));
        return withKey(key -> message(stored).toBuilder().setKey(key).build());
    }

    private static void demand(Pattern form, String text, String what) {
        if (!form.matcher(text).matches()) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    "the template's %s must match %s".formatted(what, form));
        }
    }

    private <T> T withKey(Function<ByteString, T> use) {
        byte[] key = keys.forTemplates();
        try {
            return use.apply(ByteString.copyFrom(key));
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    private static StoredTemplate message(TemplateRows.Stored stored) {
        return StoredTemplate.newBuilder()
                .setDigest(stored.digest())
                .setName(stored.name())
                .setManifestKey(stored.manifestKey())
                .setManifestDigest(stored.manifestDigest())
                .setBytesStored(stored.bytesStored())
                .setBytesUploaded(stored.bytesUploaded())
                .setBytesLogical(stored.bytesLogical())
                .build();
    }
}
