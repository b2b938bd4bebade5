package dev.space.certificates;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A key that may sign certificates, with the chain that leads to the root.
 *
 * @param chain its own certificate first, the root last
 */
public record Authority(List<X509Certificate> chain, PrivateKey key) {

    /** The root outlives what was snapshotted with it. */
    public static final Duration ROOT_VALIDITY = Duration.ofDays(20 * 365);

    /** Of a gateway's own; it is made again long before. */
    public static final Duration GATEWAY_VALIDITY = Duration.ofDays(365);

    /** Of a session's, which a gateway makes again at half of it. */
    public static final Duration SESSION_VALIDITY = Duration.ofDays(7);

    /** Guests' clocks may be behind, and so may be what they verify. */
    static final Duration BACKDATED = Duration.ofDays(1);

    private static final String ORGANISATION = "SPACE";

    /** Takes a copy of the chain. */
    public Authority {
        chain = List.copyOf(chain);
    }

    /** A new installation's. */
    public static Authority root(Instant now) {
        KeyPair keys = Keys.generate();
        Certificates.Wish wish =
                new Certificates.Wish(
                        Names.of(ORGANISATION, "SPACE root " + Names.fingerprint(keys.getPublic())),
                        keys.getPublic(),
                        now.minus(BACKDATED),
                        now.plus(ROOT_VALIDITY));
        X509Certificate own = Certificates.authority(wish, wish.subject(), keys, 2, Set.of());
        return new Authority(List.of(own), keys.getPrivate());
    }

    /** For one gateway: may sign for any name, and only for sessions' intermediates and leaves. */
    public Authority gateway(String name, Instant now) {
        return below("SPACE gateway " + name, now, GATEWAY_VALIDITY, 1, Set.of());
    }

    /**
     * For one session.
     *
     * @param names that its leaves may have; each stands for every name below it too, for so name
     *     constraints are
     */
    public Authority session(String session, Set<String> names, Instant now) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("without names it would be good for every name");
        }
        return below("SPACE session " + session, now, SESSION_VALIDITY, 0, names);
    }

    private Authority below(
            String name, Instant now, Duration validity, int depth, Set<String> names) {
        KeyPair keys = Keys.generate();
        Certificates.Wish wish =
                new Certificates.Wish(
                        Names.of(ORGANISATION, name),
                        keys.getPublic(),
                        now.minus(BACKDATED),
                        earlier(now.plus(validity)));
        X509Certificate made =
                Certificates.authority(
                        wish,
                        Names.subject(own()),
                        new KeyPair(own().getPublicKey(), key),
                        depth,
                        names);
        return new Authority(before(made), keys.getPrivate());
    }

    /** The chain of one host's certificate, its own first and without the root. */
    public List<X509Certificate> leaf(String host, PublicKey of, Instant now) {
        Certificates.Wish wish =
                new Certificates.Wish(
                        Names.of(ORGANISATION, ""),
                        of,
                        now.minus(BACKDATED),
                        own().getNotAfter().toInstant());
        List<X509Certificate> all = before(Certificates.leaf(wish, host, own(), key));
        return all.subList(0, all.size() - 1);
    }

    private List<X509Certificate> before(X509Certificate first) {
        List<X509Certificate> all = new ArrayList<>(List.of(first));
        all.addAll(chain);
        return List.copyOf(all);
    }

    /** No certificate is good for longer than the one that signed it. */
    private Instant earlier(Instant end) {
        Instant mine = own().getNotAfter().toInstant();
        return end.isBefore(mine) ? end : mine;
    }

    /** The certificate of this key. */
    public X509Certificate own() {
        return chain.getFirst();
    }

    /** Whether it goes on for so long. */
    public boolean lasts(Duration more, Instant now) {
        return own().getNotAfter().toInstant().isAfter(now.plus(more));
    }

    /** Whether it was signed by that root. */
    public boolean isBelow(X509Certificate root) {
        return chain.getLast().equals(root);
    }

    /** From a chain's file and a key's. */
    public static Authority read(Path chain, Path key) throws IOException {
        List<X509Certificate> certificates = Pem.certificates(Files.readString(chain));
        PrivateKey own = Pem.key(Files.readString(key));
        if (!Keys.belong(certificates.getFirst().getPublicKey(), own)) {
            throw new IOException("the key in " + key + " is not the certificate's in " + chain);
        }
        return new Authority(certificates, own);
    }

    /** The chain as PEM. */
    public String chainPem() {
        return Pem.of(chain);
    }

    /** The key as PEM: for a file that only its owner can read. */
    public String keyPem() {
        return Pem.of(key);
    }

    /** Says nothing of the key. */
    @Override
    public String toString() {
        return "Authority[" + own().getSubjectX500Principal() + "]";
    }
}
