package dev.space.cli.platform;

import dev.space.cli.config.SpaceConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where everything of one platform lies (docs/contracts.md, Directories). The launcher says in the
 * environment where the built release and the server binaries are.
 */
public record Platform(
        Path data,
        Path cache,
        Path release,
        Path templateNames,
        Path jdk,
        Path temporal,
        Path postgres,
        Path config) {

    private static final int SOCKET_NAME_CHARS = 8;

    /** From the environment of the launcher; {@code data} and {@code config} win when given. */
    public static Platform of(Map<String, String> env, @Nullable Path data, @Nullable Path config) {
        Path cache = Path.of(env.getOrDefault("SPACE_CACHE", "/var/cache/space"));
        Path chosenData =
                data != null ? data : Path.of(env.getOrDefault("SPACE_DATA", "/var/lib/space"));
        Path chosenConfig =
                config != null
                        ? config
                        : Path.of(
                                env.getOrDefault(
                                        "SPACE_CONFIG", SpaceConfig.FILE_DEFAULT.toString()));
        return new Platform(
                chosenData.toAbsolutePath().normalize(),
                cache.toAbsolutePath().normalize(),
                Path.of(env.getOrDefault("SPACE_RELEASE", ".")).toAbsolutePath(),
                Path.of(env.getOrDefault("SPACE_TEMPLATE_NAMES", cache + "/templates/by-name"))
                        .toAbsolutePath(),
                Path.of(env.getOrDefault("SPACE_JDK", System.getProperty("java.home"))),
                Path.of(env.getOrDefault("SPACE_TEMPORAL", cache + "/servers/temporal")),
                Path.of(env.getOrDefault("SPACE_POSTGRES", cache + "/servers/postgres")),
                chosenConfig.toAbsolutePath());
    }

    public Path run() {
        return data.resolve("run");
    }

    public Path log() {
        return data.resolve("log");
    }

    public Path secrets() {
        return data.resolve("secrets");
    }

    public Path apiKey() {
        return secrets().resolve("api-key");
    }

    public Path operatorKey() {
        return secrets().resolve("operator-key");
    }

    /** Short, because the path of a unix socket has at most 107 bytes. */
    public Path sockets() {
        return Path.of("/run/space").resolve(instance());
    }

    /**
     * Tag of this platform in names that the whole machine shares: namespaces, cgroups, sockets.
     */
    public String instance() {
        return sha256(data.toString()).substring(0, SOCKET_NAME_CHARS);
    }

    private static String sha256(String text) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
