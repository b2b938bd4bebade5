package dev.space.store;

import dev.space.model.Ids;
import dev.space.model.OrganisationId;
import dev.space.model.ProjectId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Optional;

/** Organisations, projects and the hashes of API keys. */
@Singleton
public class TenantStore {
    private final Db db;
    private final SecureRandom random = new SecureRandom();

    @Inject
    public TenantStore(Db db) {
        this.db = db;
    }

    /** Who a key speaks for. */
    public record Caller(String keyId, String organisation, String project, String name) {}

    /**
     * SHA-256 without salt or stretching: a key is 160 random bits, so there is nothing to guess
     * that a slow hash would protect, and every request would pay for it.
     */
    public static byte[] hash(String key) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(key.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The caller with this key's hash, unless it was revoked. */
    public Optional<Caller> find(byte[] hash) {
        return db.inOneStatement(tx ->
                tx.first(
                        "SELECT k.id, p.organisation_id, k.project_id, k.name, k.hash FROM"
                                + " api_keys k JOIN projects p ON p.id = k.project_id WHERE"
                                + " k.hash = ? AND k.revoked_at IS NULL",
                        row ->
                                new Caller(
                                        row.getString(1),
                                        row.getString(2),
                                        row.getString(3),
                                        row.getString(4)),
                        hash));
    }

    /**
     * The default organisation and project with the first key. Safe on every start and on several
     * instances at once; a changed key file adds that key.
     */
    public void bootstrap(byte[] keyHash) {
        db.inTransaction(tx -> {
            tx.update(
                    "INSERT INTO organisations (id, name) VALUES (?, 'default') ON CONFLICT"
                            + " (name) DO NOTHING",
                    newId(OrganisationId.PREFIX));
            tx.update(
                    "INSERT INTO projects (id, organisation_id, name) SELECT ?, id,"
                            + " 'default' FROM organisations WHERE name = 'default' ON"
                            + " CONFLICT (organisation_id, name) DO NOTHING",
                    newId(ProjectId.PREFIX));
            return tx.update(
                    "INSERT INTO api_keys (id, project_id, name, hash) SELECT ?, p.id,"
                            + " 'bootstrap', ? FROM projects p JOIN organisations o ON o.id ="
                            + " p.organisation_id WHERE o.name = 'default' AND p.name ="
                            + " 'default' ON CONFLICT (hash) DO NOTHING",
                    newId("key"),
                    keyHash);
        });
    }

    private String newId(String prefix) {
        byte[] bytes = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(bytes);
        return Ids.text(prefix, bytes);
    }
}
