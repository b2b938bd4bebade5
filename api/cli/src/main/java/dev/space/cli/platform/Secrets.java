package dev.space.cli.platform;

import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.function.Supplier;

/**
 * The platform's own secrets: made once, each file readable by its one reader only. Where two
 * processes share one, each has its own copy.
 */
public final class Secrets {

    private static final int KEY_BYTES = 32;
    private static final int API_KEY_BYTES = 20;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path directory;
    private final User root;

    public Secrets(Path directory, User root) {
        this.directory = Owned.directory(directory, root, "rwx--x--x");
        this.root = root;
    }

    /** The first API key, for the machine's administrator. */
    public Path apiKey() {
        return once("api-key", root, () -> "space_" + hex(API_KEY_BYTES));
    }

    /** Opens the operator's interface, which reaches the sessions of every project. */
    public Path operatorKey() {
        return once("operator-key", root, () -> "operator_" + hex(KEY_BYTES));
    }

    public Path operatorKeyFor(String role, User reader) {
        Path key = operatorKey();
        return once("operator-key-" + role, reader, () -> read(key));
    }

    public Path superuserPassword() {
        return once("postgres-superuser", root, () -> hex(KEY_BYTES));
    }

    public Path databasePassword(User reader) {
        return once("database-password", reader, () -> hex(KEY_BYTES));
    }

    public Path envKey(User reader) {
        return once("env-key", reader, () -> Base64.getEncoder().encodeToString(bytes(KEY_BYTES)));
    }

    public Path nodeToken(String role, User reader) {
        Path shared = once("node-token", root, () -> hex(KEY_BYTES));
        return once("node-token-" + role, reader, () -> read(shared));
    }

    /** Opens credentials: a gateway's copy. */
    public Path credentialKeyset(String role, User reader) {
        Path shared = credentialKeyset();
        return once("credential-keyset-" + role, reader, () -> read(shared));
    }

    /** Seals credentials and opens none: follows from the private one, so it is written anew. */
    public Path credentialPublicKeyset(User reader) {
        return Owned.secret(
                directory.resolve("credential-keyset-public"),
                reader,
                CredentialKeys.publicOf(read(credentialKeyset())));
    }

    private Path credentialKeyset() {
        return once("credential-keyset", root, CredentialKeys::makePrivate);
    }

    /** The embedded object store's secret key. */
    public Path objectStoreKey(String role, User reader) {
        Path shared = once("object-store-key", root, () -> hex(KEY_BYTES));
        return once("object-store-key-" + role, reader, () -> read(shared));
    }

    /** An outside object store's secret key, as it is in the file now. */
    public Path outsideObjectStoreKey(Path file, String role, User reader) {
        return Owned.secret(
                directory.resolve("object-store-outside-key-" + role), reader, read(file));
    }

    /** What a process needs for the vault, as it is in the operator's file now. */
    public Path ofVault(Path file, String name, User reader) {
        return Owned.secret(directory.resolve("vault-" + name), reader, read(file) + "\n");
    }

    /** The operator's own roots, as they are in the file now, for a process that is not root. */
    public Path extraRoots(Path file, String role, User reader) {
        return Owned.secret(directory.resolve("extra-roots-" + role), reader, read(file) + "\n");
    }

    /** The first API key once more, for the process that has to know its hash. */
    public Path apiKeyFor(String role, User reader) {
        Path key = apiKey();
        return once("api-key-" + role, reader, () -> read(key));
    }

    private Path once(String name, User owner, Supplier<String> content) {
        Path path = directory.resolve(name);
        return Files.exists(path)
                ? Owned.file(path, owner, "rw-------")
                : Owned.secret(path, owner, content.get());
    }

    public static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new PlatformException(
                    "cannot read the key in " + file + ": run as root, or set SPACE_API_KEY", e);
        }
    }

    private static String hex(int count) {
        return HexFormat.of().formatHex(bytes(count));
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
