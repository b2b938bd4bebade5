package dev.space.service.node;

import dev.space.model.Secret;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import io.quarkus.runtime.Startup;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The shared secret between control plane and nodes, in both directions. */
@Singleton
@Startup // A key that cannot be read ends the start, not every request after it.
public class NodeTokens {
    private static final String SCHEME = "Bearer ";

    private final Secret token;

    @Inject
    public NodeTokens(SpaceConfig config) {
        this.token = SecretFiles.read("node token", config.node().tokenFile());
    }

    /** For the header of a call. */
    public String text() {
        return token.text();
    }

    /** Compares in constant time. */
    public boolean isValid(@Nullable String header) {
        return header != null
                && header.startsWith(SCHEME)
                && token.matches(
                        header.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8));
    }
}
