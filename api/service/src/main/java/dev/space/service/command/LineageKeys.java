package dev.space.service.command;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.LineageRows;
import dev.space.store.TemplateRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;

/**
 * The keys under which sessions are stored: 32 random bytes for each lineage, made when the first
 * of it is stored, sealed in their row. The plain form exists only in this process and in the
 * answer to the node that works with the session.
 */
@Singleton
public class LineageKeys {
    private static final int KEY_BYTES = 32;

    private final LineageRows rows;
    private final PlatformCipher cipher;
    private final SecureRandom random = new SecureRandom();

    @Inject
    public LineageKeys(LineageRows rows, PlatformCipher cipher) {
        this.rows = rows;
        this.cipher = cipher;
    }

    /** The key of a session's lineage, which the caller wipes; only for the session's node. */
    public byte[] forNode(SessionId session, String node) {
        String lineage =
                rows.lineage(session, node)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.STALE_FENCE,
                                        "session " + session + " is not on node " + node));
        return key(lineage);
    }

    /** The key of the installation's templates, which the caller wipes; for every node. */
    public byte[] forTemplates() {
        return key(TemplateRows.LINEAGE);
    }

    /** A key that leaves the platform; wiped when it is closed. */
    public record Exported(LineageRows.Stored stored, Secret key) implements AutoCloseable {
        @Override
        public void close() {
            key.close();
        }
    }

    /** The key that opens a stored snapshot; that it was given is written down before. */
    public Exported export(SnapshotId snapshot, String actor) {
        LineageRows.Stored stored =
                rows.export(snapshot, actor)
                        .orElseThrow(() ->
                                new SpaceException(
                                        ErrorCode.SNAPSHOT_NOT_FOUND,
                                        "the object store does not have snapshot "
                                                + snapshot
                                                + " whole"));
        byte[] key = key(stored.lineage());
        try {
            return new Exported(stored, new Secret("lineage key", key));
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    private byte[] key(String lineage) {
        try {
            Optional<Blob> known = rows.key(lineage);
            Blob sealed = known.isPresent() ? known.get() : rows.keep(lineage, fresh(lineage));
            return cipher.open(of(lineage), sealed);
        } catch (GeneralSecurityException failure) {
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "the key of lineage " + lineage + " does not open with this env key",
                    failure);
        }
    }

    private Blob fresh(String lineage) throws GeneralSecurityException {
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        try {
            return cipher.seal(of(lineage), key);
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    /** Never that of an environment, which is bound to the session's id alone. */
    private static String of(String lineage) {
        return "lineage:" + lineage;
    }
}
