package dev.space.model.audit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks a chain of one organisation, link after link. Whoever has only some of the records can
 * check it all: of the others the digest is enough.
 */
public final class AuditChain {

    /**
     * One link.
     *
     * @param position from 1 on, without gaps
     * @param project whose record it is; empty: nobody's
     * @param digest of the record
     * @param hash over the link before and this one
     */
    public record Link(long position, String project, String digest, String hash) {}

    private long position;
    private String head;

    private AuditChain(long position, String head) {
        this.position = position;
        this.head = head;
    }

    /** Before the first link. */
    public static AuditChain of(String organisation) {
        return new AuditChain(0, start(organisation));
    }

    /** What the first link of an organisation is chained to. */
    public static String start(String organisation) {
        return sha256(("space-audit-chain/1|" + organisation).getBytes(StandardCharsets.UTF_8));
    }

    /** The hash of the next link. */
    public static String next(String before, long position, String project, String digest) {
        String link = before + "|" + position + "|" + project + "|" + digest;
        return sha256(link.getBytes(StandardCharsets.UTF_8));
    }

    /** Position of the last link that was good. */
    public long position() {
        return position;
    }

    /** Its hash: kept elsewhere, it proves later that nothing up to it was changed. */
    public String head() {
        return head;
    }

    /**
     * Takes the next link; answers what is wrong with it.
     *
     * @param entry null: not ours to see
     */
    public Optional<String> take(Link link, @Nullable AuditEntry entry) {
        if (link.position() != position + 1) {
            return Optional.of("after " + position + " comes " + link.position());
        }
        if (entry != null
                && !(entry.digest().equals(link.digest())
                        && entry.project().equals(link.project()))) {
            return Optional.of("the record at " + link.position() + " was changed");
        }
        String hash = next(head, link.position(), link.project(), link.digest());
        if (!hash.equals(link.hash())) {
            return Optional.of("the chain is broken at " + link.position());
        }
        position = link.position();
        head = hash;
        return Optional.empty();
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
