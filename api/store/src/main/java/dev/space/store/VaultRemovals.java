package dev.space.store;

import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * What the vault is to be rid of. Rows come by triggers, with whatever ends the need; they go when
 * the vault has done it.
 */
@Singleton
public class VaultRemovals {
    private final Db db;

    @Inject
    public VaultRemovals(Db db) {
        this.db = db;
    }

    /**
     * One thing to remove.
     *
     * @param below versions before this one; 0: the entry with all of them
     */
    public record Removal(String path, long below) {}

    /** Removes one from the vault; false where that cannot be done now. */
    @FunctionalInterface
    public interface Remover {
        boolean remove(Removal removal);
    }

    /** What became of a turn. */
    public enum Turn {
        DONE,
        FAILED,
        NOTHING_LEFT
    }

    /**
     * Takes the one that waits longest for a try, and forgets it when it is done. Others may do the
     * same at the same time. The row is held meanwhile: the remover must end in bounded time.
     */
    public Turn one(Remover remover) {
        return db.inTransaction(tx -> {
            Optional<Removal> next =
                    tx.first(
                            "SELECT path, below FROM vault_removals"
                                    + " WHERE tried_at IS NULL OR tried_at < now() - interval '5 s'"
                                    + " ORDER BY tried_at NULLS FIRST, asked_at LIMIT 1"
                                    + " FOR UPDATE SKIP LOCKED",
                            row -> new Removal(row.getString("path"), row.getLong("below")));
            if (next.isEmpty()) {
                return Turn.NOTHING_LEFT;
            }
            Removal removal = next.get();
            if (remover.remove(removal)) {
                tx.update(
                        "DELETE FROM vault_removals WHERE path = ? AND below = ?",
                        removal.path(),
                        removal.below());
                return Turn.DONE;
            }
            tx.update(
                    "UPDATE vault_removals SET tried_at = clock_timestamp()"
                            + " WHERE path = ? AND below = ?",
                    removal.path(),
                    removal.below());
            return Turn.FAILED;
        });
    }

    /** How many wait. */
    public long waiting() {
        return db.inOneStatement(tx ->
                tx.first("SELECT count(*) FROM vault_removals", row -> row.getLong(1))
                        .orElseThrow());
    }
}
