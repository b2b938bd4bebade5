package dev.space.service.key;

import dev.space.model.ErrorCode;
import dev.space.model.Ids;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.store.Blob;
import dev.space.store.CustomerKeyRows;
import dev.space.store.CustomerKeyRows.CustomerKey;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Keys of organisations in services of their own. What is wrapped is sealed under the platform's
 * key already, so that the service never sees what it protects. Nothing that was unwrapped is kept.
 */
@Singleton
public class CustomerKeys {

    /** Calls at once, of all services: each may take {@code VaultSession.CALL_MAX}. */
    static final int CALLS_MAX = 16;

    private static final long TURN_WAIT_MAX_SECONDS = 5;
    private static final int SECRET_BYTES_MAX = 4096;
    private static final String PREFIX = "ckey";
    private static final String PROBE = "probe";
    private static final String FOREIGN = "what it unwraps is not what it wrapped";
    private static final byte[] PROBED = "space".getBytes(StandardCharsets.US_ASCII);

    private final CustomerKeyRows rows;
    private final PlatformCipher cipher;
    private final SecureRandom random = new SecureRandom();
    private final Semaphore calls = new Semaphore(CALLS_MAX);
    private final Map<String, Open> open = new HashMap<>();

    @Inject
    public CustomerKeys(CustomerKeyRows rows, PlatformCipher cipher) {
        this.rows = rows;
        this.cipher = cipher;
    }

    /** A service that is logged in, and the setting that it came from. */
    private record Open(Instant set, KeyService service) {}

    /**
     * Makes it the organisation's key, once it has wrapped and unwrapped something.
     *
     * @param id of who logs in at the service, and its secret
     */
    public CustomerKey set(
            String organisation, KeyPlace place, Secret id, Secret secret, String by) {
        String owner = rows.organisation(organisation);
        String probe;
        try (KeyService service = place.open(id, secret)) {
            probe = tried(service);
        } catch (IllegalArgumentException wrong) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT, String.valueOf(wrong.getMessage()), wrong);
        }
        byte[] name = new byte[Ids.RANDOM_BYTES];
        random.nextBytes(name);
        String key = Ids.text(PREFIX, name);
        Blob access = sealed(owner, id, secret);
        return rows.set(new CustomerKeyRows.Setting(key, owner, place.text(), access, probe, by));
    }

    private String tried(KeyService service) {
        try {
            String probe = inTurn(() -> service.wrap(PROBE, PROBED));
            byte[] again = inTurn(() -> service.unwrap(PROBE, probe));
            if (!Arrays.equals(again, PROBED)) {
                throw new KeyFault(false, FOREIGN);
            }
            return probe;
        } catch (KeyFault fault) {
            throw told(fault, "nothing was changed");
        }
    }

    /** The organisation's current key. */
    public Optional<CustomerKey> current(String organisation) {
        return rows.current(organisation);
    }

    /** Any key, also one that only protects what is not wrapped anew yet. */
    public CustomerKey key(String id) {
        return rows.key(id)
                .orElseThrow(() ->
                        new SpaceException(
                                ErrorCode.INTERNAL, "invariant: key " + id + " is gone"));
    }

    /** Wraps what the platform has sealed. */
    public Blob wrap(CustomerKey key, String context, Blob sealed) {
        String wrapped = use(key, service -> service.wrap(context, sealed.bytes()));
        return Blob.of(wrapped.getBytes(StandardCharsets.US_ASCII));
    }

    /** What the platform has sealed. */
    public Blob unwrap(CustomerKey key, String context, Blob wrapped) {
        String text = new String(wrapped.bytes(), StandardCharsets.US_ASCII);
        return Blob.of(use(key, service -> service.unwrap(context, text)));
    }

    private <T> T use(CustomerKey key, Function<KeyService, T> work) {
        try {
            KeyService service = service(key);
            return inTurn(() -> work.apply(service));
        } catch (KeyFault fault) {
            throw told(fault, "the organisation's owner of the key knows more");
        }
    }

    /** What a look at a key saw; the detail is for its owner and for operators. */
    public record Look(CustomerKeyRows.Seen seen, String detail) {}

    /** Whether what it wrapped when it was set still opens. */
    public Look look(CustomerKey key) {
        try {
            KeyService service = service(key);
            boolean opens = Arrays.equals(inTurn(() -> service.unwrap(PROBE, key.probe())), PROBED);
            return opens
                    ? new Look(CustomerKeyRows.Seen.USABLE, "")
                    : new Look(CustomerKeyRows.Seen.REFUSED, FOREIGN);
        } catch (KeyFault fault) {
            CustomerKeyRows.Seen seen =
                    fault.isPassing()
                            ? CustomerKeyRows.Seen.NO_ANSWER
                            : CustomerKeyRows.Seen.REFUSED;
            return new Look(seen, String.valueOf(fault.getMessage()));
        }
    }

    private static SpaceException told(KeyFault fault, String more) {
        ErrorCode code =
                fault.isPassing() ? ErrorCode.KEY_SERVICE_UNAVAILABLE : ErrorCode.KEY_REVOKED;
        return new SpaceException(code, fault.getMessage() + "; " + more, fault);
    }

    @FunctionalInterface
    private interface Call<T> {
        T run();
    }

    private <T> T inTurn(Call<T> call) {
        try {
            if (!calls.tryAcquire(TURN_WAIT_MAX_SECONDS, TimeUnit.SECONDS)) {
                throw new KeyFault(true, "key services are slow, and others wait for them");
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new KeyFault(true, "interrupted");
        }
        try {
            return call.run();
        } finally {
            calls.release();
        }
    }

    /** One log-in is used for many calls; a new setting has one of its own. */
    private KeyService service(CustomerKey key) {
        KeyService old;
        KeyService now;
        synchronized (open) {
            Open known = open.get(key.id());
            if (known != null && known.set().equals(key.set())) {
                return known.service();
            }
            now = opened(key);
            Open before = open.put(key.id(), new Open(key.set(), now));
            old = before == null ? null : before.service();
        }
        if (old != null) {
            old.close();
        }
        return now;
    }

    private KeyService opened(CustomerKey key) {
        byte[] plain;
        try {
            plain = cipher.open(of(key.organisation()), key.access());
        } catch (GeneralSecurityException failure) {
            throw new SpaceException(
                    ErrorCode.INTERNAL,
                    "what logs in for key " + key.id() + " does not open with this env key",
                    failure);
        }
        ByteBuffer both = ByteBuffer.wrap(plain);
        try (Secret id = part(both);
                Secret secret = part(both)) {
            return KeyPlace.of(key.place()).open(id, secret);
        } finally {
            Arrays.fill(plain, (byte) 0);
        }
    }

    private static Secret part(ByteBuffer both) {
        byte[] bytes = new byte[both.getShort()];
        both.get(bytes);
        try {
            return new Secret("key service", bytes);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    private Blob sealed(String organisation, Secret id, Secret secret) {
        byte[] first = id.bytes();
        byte[] second = secret.bytes();
        byte[] both = new byte[2 * Short.BYTES + first.length + second.length];
        try {
            ByteBuffer.wrap(both)
                    .putShort((short) first.length)
                    .put(first)
                    .putShort((short) second.length)
                    .put(second);
            return cipher.seal(of(organisation), both);
        } catch (GeneralSecurityException failure) {
            throw new SpaceException(ErrorCode.INTERNAL, "it cannot be sealed", failure);
        } finally {
            Arrays.fill(first, (byte) 0);
            Arrays.fill(second, (byte) 0);
            Arrays.fill(both, (byte) 0);
        }
    }

    /** One part of what logs in, as somebody gave it. */
    public static Secret checked(String field, String text) {
        boolean bad = text.isBlank() || text.chars().anyMatch(Character::isISOControl);
        if (bad || text.length() > SECRET_BYTES_MAX) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    field + " has 1 to " + SECRET_BYTES_MAX + " characters of one line");
        }
        return Secret.ofText(field, text);
    }

    /** Never that of an environment or a lineage. */
    private static String of(String organisation) {
        return "customer-key:" + organisation;
    }

    @PreDestroy
    void close() {
        synchronized (open) {
            open.values().forEach(known -> known.service().close());
            open.clear();
        }
    }
}
