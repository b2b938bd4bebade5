package dev.space.store;

import dev.space.model.ErrorCode;
import dev.space.model.SessionId;
import dev.space.model.SessionState;
import dev.space.model.SpaceException;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Keys of organisations: which one is an organisation's current one, what became of it, and which
 * lineages it does not protect yet. This class sees neither a key nor what logs in at its service.
 */
@Singleton
public class CustomerKeyRows {

    /** One no could be a change of rights that is under way; two in a row are meant. */
    static final int REFUSALS_MAX = 2;

    private static final String COLUMNS =
            "k.id, k.organisation_id, o.name, k.current, k.place, k.access_sealed, k.probe,"
                    + " k.state, k.detail, k.state_since, k.checked_at, k.set_at FROM customer_keys"
                    + " k JOIN organisations o ON o.id = k.organisation_id ";

    private final Db db;

    @Inject
    public CustomerKeyRows(Db db) {
        this.db = db;
    }

    /** Whether the key can be used. */
    public enum State {
        USABLE,
        /** Its service gave no answer: what runs goes on, nothing starts. */
        UNREACHABLE,
        /** Its service said no: what runs ends, nothing starts, nothing stored can be read. */
        REVOKED
    }

    /**
     * One key.
     *
     * @param organisation its id
     * @param name the organisation's name
     * @param place where it is, as its owner wrote it
     * @param access what logs in there, sealed
     * @param probe something that it wrapped
     */
    public record CustomerKey(
            String id,
            String organisation,
            String name,
            boolean current,
            String place,
            Blob access,
            String probe,
            State state,
            String detail,
            Instant stateSince,
            Instant checked,
            Instant set) {

        private static CustomerKey read(ResultSet row) throws SQLException {
            return new CustomerKey(
                    row.getString("id"),
                    row.getString("organisation_id"),
                    row.getString("name"),
                    row.getBoolean("current"),
                    row.getString("place"),
                    Blob.of(row.getBytes("access_sealed")),
                    row.getString("probe"),
                    State.valueOf(row.getString("state")),
                    row.getString("detail"),
                    Objects.requireNonNull(Db.instant(row, "state_since")),
                    Objects.requireNonNull(Db.instant(row, "checked_at")),
                    Objects.requireNonNull(Db.instant(row, "set_at")));
        }
    }

    /** The id of the organisation of that name. */
    public String organisation(String name) {
        return db.inOneStatement(tx ->
                        tx.first(
                                "SELECT id FROM organisations WHERE name = ?",
                                row -> row.getString(1),
                                name))
                .orElseThrow(() ->
                        new SpaceException(ErrorCode.NOT_FOUND, "there is no such organisation"));
    }

    /** The organisation's current key. */
    public Optional<CustomerKey> current(String organisation) {
        return db.inOneStatement(tx -> current(tx, organisation));
    }

    private static Optional<CustomerKey> current(Db.Tx tx, String organisation)
            throws SQLException {
        return tx.first(
                "SELECT " + COLUMNS + "WHERE k.organisation_id = ? AND k.current",
                CustomerKey::read,
                organisation);
    }

    /** Any key. */
    public Optional<CustomerKey> key(String id) {
        return db.inOneStatement(
                tx -> tx.first("SELECT " + COLUMNS + "WHERE k.id = ?", CustomerKey::read, id));
    }

    /** All keys that something depends on; there is one for each organisation, or a few. */
    public List<CustomerKey> all(int most) {
        return db.inOneStatement(tx ->
                tx.all("SELECT " + COLUMNS + "ORDER BY k.id LIMIT ?", CustomerKey::read, most));
    }

    /** What is written when a key is set; it was tried before. */
    public record Setting(
            String id, String organisation, String place, Blob access, String probe, String by) {}

    /**
     * The organisation's key from now on. The same place again is the same key with another way to
     * log in.
     */
    public CustomerKey set(Setting setting) {
        return db.inTransaction(tx -> {
            var _ =
                    tx.first(
                            "SELECT id FROM organisations WHERE id = ? FOR UPDATE",
                            row -> row.getString(1),
                            setting.organisation());
            int same =
                    tx.update(
                            "UPDATE customer_keys SET access_sealed = ?, probe = ?, set_by = ?,"
                                    + " set_at = now(), current = true WHERE organisation_id = ?"
                                    + " AND place = ? AND current",
                            setting.access(),
                            setting.probe(),
                            setting.by(),
                            setting.organisation(),
                            setting.place());
            if (same == 0) {
                retire(tx, setting.organisation());
                tx.update(
                        "INSERT INTO customer_keys (id, organisation_id, place, access_sealed,"
                                + " probe, set_by) VALUES (?, ?, ?, ?, ?, ?)",
                        setting.id(),
                        setting.organisation(),
                        setting.place(),
                        setting.access(),
                        setting.probe(),
                        setting.by());
            }
            CustomerKey key = current(tx, setting.organisation()).orElseThrow();
            event(tx, key, setting.by(), "set_key", "OK", "");
            become(tx, key, State.USABLE, "");
            return key(tx, key.id());
        });
    }

    private static CustomerKey key(Db.Tx tx, String id) throws SQLException {
        return tx.first("SELECT " + COLUMNS + "WHERE k.id = ?", CustomerKey::read, id)
                .orElseThrow();
    }

    private static void retire(Db.Tx tx, String organisation) throws SQLException {
        tx.update(
                "UPDATE customer_keys SET current = false WHERE organisation_id = ? AND current",
                organisation);
    }

    /** The organisation goes back to the platform's own key; false where it had none. */
    public boolean remove(String organisation, String by) {
        return db.inTransaction(tx -> {
            Optional<CustomerKey> key = current(tx, organisation);
            if (key.isEmpty()) {
                return false;
            }
            event(tx, key.get(), by, "remove_key", "OK", "");
            retire(tx, organisation);
            return true;
        });
    }

    /** Everything of the organisation is wrapped anew. */
    public void rewrap(String organisation, String by) {
        db.inTransaction(tx -> {
            CustomerKey key =
                    current(tx, organisation)
                            .orElseThrow(() ->
                                    new SpaceException(
                                            ErrorCode.NOT_FOUND,
                                            "the organisation has no key of its own"));
            event(tx, key, by, "rewrap_key", "OK", "");
            return tx.update(
                    "UPDATE customer_keys SET rewrap_before = now() WHERE id = ?", key.id());
        });
    }

    /** What a look at the key service saw. */
    public enum Seen {
        USABLE,
        NO_ANSWER,
        REFUSED
    }

    /**
     * Writes down what a look saw; what follows from it is decided here, so that it does not depend
     * on which instance looks.
     *
     * @param longest how long a key may be unreachable before that counts as a no
     * @return the state from now on
     */
    public State seen(String id, Seen seen, String detail, Duration longest) {
        return db.inTransaction(tx -> {
            Optional<Integer> found =
                    tx.first(
                            "SELECT refusals FROM customer_keys WHERE id = ? FOR UPDATE",
                            row -> row.getInt(1),
                            id);
            if (found.isEmpty()) {
                return State.USABLE; // nothing depends on it any more
            }
            int refusals =
                    switch (seen) {
                        case USABLE -> 0;
                        case NO_ANSWER -> found.get();
                        case REFUSED -> Math.min(found.get() + 1, REFUSALS_MAX);
                    };
            tx.update(
                    "UPDATE customer_keys SET refusals = ?, checked_at = now() WHERE id = ?",
                    refusals,
                    id);
            CustomerKey key = key(tx, id);
            State next = next(key, seen, refusals, longest);
            if (next != key.state()) {
                become(tx, key, next, detail);
                event(tx, key, "platform", "key", next.name(), detail);
            }
            return next;
        });
    }

    private static State next(CustomerKey key, Seen seen, int refusals, Duration longest) {
        return switch (seen) {
            case USABLE -> State.USABLE;
            case REFUSED -> refusals >= REFUSALS_MAX ? State.REVOKED : key.state();
            case NO_ANSWER ->
                    switch (key.state()) {
                        case USABLE -> State.UNREACHABLE;
                        case REVOKED -> State.REVOKED;
                        case UNREACHABLE ->
                                key.checked().isAfter(key.stateSince().plus(longest))
                                        ? State.REVOKED
                                        : State.UNREACHABLE;
                    };
        };
    }

    private static void become(Db.Tx tx, CustomerKey key, State state, String detail)
            throws SQLException {
        tx.update(
                "UPDATE customer_keys SET state = ?, detail = ?, refusals = CASE WHEN ? = 'USABLE'"
                        + " THEN 0 ELSE refusals END, state_since = CASE WHEN state = ? THEN"
                        + " state_since ELSE now() END WHERE id = ?",
                state,
                detail,
                state,
                state,
                key.id());
    }

    /** Every project of the organisation sees it. */
    private static void event(
            Db.Tx tx, CustomerKey key, String actor, String action, String outcome, String reason)
            throws SQLException {
        tx.update(
                "INSERT INTO events (project_id, actor, action, object, outcome, reason) SELECT id,"
                        + " ?, ?, ?, ?, ? FROM projects WHERE organisation_id = ?",
                actor,
                action,
                key.id(),
                outcome,
                reason,
                key.organisation());
    }

    /** A sandbox that runs although its organisation's key is revoked. */
    public record Running(SessionId session, long epoch) {}

    /** A page of them. */
    public List<Running> running(String organisation, int most) {
        return db.inOneStatement(tx ->
                tx.all(
                        "SELECT s.id, s.epoch FROM sessions s JOIN projects p ON p.id ="
                                + " s.project_id WHERE p.organisation_id = ? AND s.state = ? ORDER"
                                + " BY s.updated_at LIMIT ?",
                        row -> new Running(new SessionId(row.getString(1)), row.getLong(2)),
                        organisation,
                        SessionState.RUNNING,
                        most));
    }

    /** Why nothing of the session's organisation starts now, if so. */
    static Optional<Placement.Unplaced> refusal(Db.Tx tx, SessionRow session) throws SQLException {
        return tx.first(
                "SELECT k.state FROM customer_keys k JOIN projects p ON p.organisation_id ="
                        + " k.organisation_id WHERE p.id = ? AND k.current AND k.state <> 'USABLE'",
                row ->
                        switch (State.valueOf(row.getString(1))) {
                            case UNREACHABLE ->
                                    new Placement.Unplaced(
                                            ErrorCode.KEY_SERVICE_UNAVAILABLE,
                                            "nothing starts until the organisation's key service"
                                                    + " answers; what runs goes on");
                            case REVOKED, USABLE ->
                                    new Placement.Unplaced(
                                            ErrorCode.KEY_REVOKED,
                                            "nothing starts until the organisation's key is given"
                                                    + " back; nothing is lost by then");
                        },
                session.project());
    }
}
