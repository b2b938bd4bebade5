package dev.space.node.sandbox;

import dev.space.durable.DurableSnapshot;
import dev.space.durable.DurableStore;
import dev.space.durable.LineageKey;
import dev.space.durable.TransferControl;
import dev.space.durable.UploadRequest;
import dev.space.durable.Verification;
import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SpaceException;
import java.nio.file.Path;

/**
 * Where snapshots are kept beside the node's own disk, and the keys that open them there.
 *
 * @param keys asked for each transfer; a key is kept no longer than that
 */
public record ObjectStore(DurableStore store, LineageKeys keys) {

    /** A node without one: it runs sessions, but nothing of them outlives it. */
    public static final ObjectStore NONE =
            new ObjectStore(
                    new Absent(),
                    _ -> {
                        throw absent();
                    });

    /** Who knows the key of a session's lineage. */
    @FunctionalInterface
    public interface LineageKeys {

        /** The caller closes it. */
        LineageKey of(SessionId session);
    }

    private static SpaceException absent() {
        return new SpaceException(
                ErrorCode.OBJECT_STORE_UNAVAILABLE,
                "this node has no object store; space.object-store.endpoint names one");
    }

    private static final class Absent implements DurableStore {
        @Override
        public DurableSnapshot upload(UploadRequest request, TransferControl control) {
            throw absent();
        }

        @Override
        public void download(
                DurableSnapshot snapshot,
                LineageKey key,
                Path staging,
                Path templateFiles,
                TransferControl control) {
            throw absent();
        }

        @Override
        public Verification verify(
                DurableSnapshot snapshot, LineageKey key, TransferControl control) {
            throw absent();
        }
    }
}
