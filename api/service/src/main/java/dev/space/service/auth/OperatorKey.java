package dev.space.service.auth;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import io.quarkus.runtime.Startup;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The key of whoever runs this platform: opens {@code /operator} and nothing else, and no API key
 * opens that. Only the machine's root can read it.
 */
@Singleton
@Startup // A key that cannot be read ends the start, not every request after it.
public class OperatorKey {
    private static final String SCHEME = "Bearer ";

    private final Optional<Secret> key;

    @Inject
    public OperatorKey(SpaceConfig config) {
        this.key = config.control().operatorKeyFile().map(f -> SecretFiles.read("operator key", f));
    }

    /** Throws unless the header carries the key; compares in constant time. */
    void demand(@Nullable String header) {
        if (key.isEmpty()) {
            throw new SpaceException(
                    ErrorCode.UNAUTHENTICATED,
                    "this control plane has no operator key (space.control.operator-key-file)");
        }
        boolean right =
                header != null
                        && header.startsWith(SCHEME)
                        && key.get()
                                .matches(
                                        header.substring(SCHEME.length())
                                                .strip()
                                                .getBytes(StandardCharsets.UTF_8));
        if (!right) {
            throw new SpaceException(
                    ErrorCode.UNAUTHENTICATED,
                    "this path needs the operator's key (DATA/secrets/operator-key), not an API key");
        }
    }
}
