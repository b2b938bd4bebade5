package dev.space.model.credential;

import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * One credential that a session may use.
 *
 * @param id of the credential, {@code crd_} and 26 characters
 * @param scope whose it is: id of a project or an organisation
 * @param version of its value: each new value has a higher one
 * @param name as people call it; unique in a session
 * @param use into which requests it goes, and how
 * @param expires in seconds since 1970, from which on it does not exist
 */
public record CredentialGrant(
        String id,
        String scope,
        long version,
        String name,
        CredentialUse use,
        OptionalLong expires,
        Material material) {

    /** What a credential's id starts with. */
    public static final String ID_PREFIX = "crd";

    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?");

    public CredentialGrant {
        String _ = checkedName(name);
    }

    /** The name, when it is one; IllegalArgumentException with a sentence for people otherwise. */
    public static String checkedName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "a credential's name has 1 to 63 small letters, digits, and .-_ between them");
        }
        return name;
    }

    /** Whether it still exists at a time in seconds since 1970. */
    public boolean isAlive(long now) {
        return expires.isEmpty() || now < expires.getAsLong();
    }

    /** Whether it may be sent to a name in the form of HostName. */
    public boolean isFor(String host, int port) {
        return use.hosts().stream().anyMatch(h -> h.matches(host, port));
    }

    /** What the sandbox writes where the secret belongs; empty for other kinds of injection. */
    public String placeholder() {
        return use.injection() instanceof Injection.Placeholder(String text) ? text : "";
    }

    /** The context to which the secret is sealed. */
    public String sealingContext() {
        return sealingContext(scope, id, version, use);
    }

    /**
     * The same before there is a grant. It holds all that says where the secret goes: who changes a
     * row cannot send an old secret to a new place, for it does not open any more.
     */
    public static String sealingContext(String scope, String id, long version, CredentialUse use) {
        return "space-credential/1|" + scope + "|" + id + "|" + version + "|" + use.toJson();
    }
}
