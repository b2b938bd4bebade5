package dev.space.vault;

import io.github.jopenlibs.vault.EnvironmentLoader;
import org.jspecify.annotations.Nullable;

/**
 * Settings come from the platform's configuration: no variable and no file in a home is looked at.
 */
final class NoEnvironment extends EnvironmentLoader {

    private static final long serialVersionUID = 1L;

    @Override
    public @Nullable String loadVariable(String name) {
        return null;
    }
}
