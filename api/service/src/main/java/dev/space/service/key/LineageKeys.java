package dev.space.service.key;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SessionId;
import dev.space.model.SnapshotId;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.CustomerKeyRows;
import dev.space.store.LineageRows;
import dev.space.store.LineageRows.Kept;
import dev.space.store.TemplateRows;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;

/**
 * The keys under which sessions are stored: 32 random bytes for each lineage, made when the first
 * of it is stored, sealed in their row, and wrapped by their organisation's own key where it has
 * one. The plain form exists only in this process and in the answer to the node that works with the
 * session.
 */
@Singleton
public class LineageKeys {
    private static final int KEY_BYTES = 32;

    private final LineageRows rows;
    private final PlatformCipher cipher;
    private final CustomerKeys customers;
    private final SecureRandom random = new SecureRandom();

    @Inject
    public LineageKeys(LineageRows rows, PlatformCipher cipher, CustomerKeys customers) {
        this.rows = rows;
        this.cipher = cipher;
        this.customers = customers;
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
            Optional<Kept> known = rows.key(lineage);
            Kept kept = known.isPresent() ? known.get() : rows.keep(lineage, fresh(lineage));
            return cipher.open(of(lineage), sealed(lineage, kept));
        } catch (GeneralSecurityException failure) {
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "the key of lineage " + lineage + " does not open with this env key",
                    failure);
        }
    }

    private Blob sealed(String lineage, Kept kept) {
        String by = kept.customerKey();
        return by == null
                ? kept.sealed()
                : customers.unwrap(customers.key(by), of(lineage), kept.sealed());
    }

    private Kept fresh(String lineage) throws GeneralSecurityException {
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        try {
            return wrapped(lineage, cipher.seal(of(lineage), key));
        } finally {
            Arrays.fill(key, (byte) 0);
        }
    }

    /** As the lineage's organisation wants it now. */
    private Kept wrapped(String lineage, Blob sealed) {
        CustomerKeyRows.CustomerKey key =
                rows.organisation(lineage).flatMap(customers::current).orElse(null);
        return key == null
                ? new Kept(sealed, null)
                : new Kept(customers.wrap(key, of(lineage), sealed), key.id());
    }

    /** Protects a key as its organisation wants it now; what it seals is not touched. */
    public void wrapAnew(String lineage) {
        rows.key(lineage)
                .ifPresent(
                        kept -> rows.wrap(lineage, kept, wrapped(lineage, sealed(lineage, kept))));
    }

    /** Never that of an environment, which is bound to the session's id alone. */
    private static String of(String lineage) {
        return "lineage:" + lineage;
    }
}
