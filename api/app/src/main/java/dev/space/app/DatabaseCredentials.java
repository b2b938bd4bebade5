package dev.space.app;

import dev.space.model.Secret;
import dev.space.service.config.SecretFiles;
import dev.space.service.config.SpaceConfig;
import io.quarkus.arc.Unremovable;
import io.quarkus.credentials.CredentialsProvider;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Reads the database's password from its file for each new connection. */
@ApplicationScoped
@Unremovable
@Named("space-database")
public class DatabaseCredentials implements CredentialsProvider {
    private final SpaceConfig config;

    @Inject
    public DatabaseCredentials(SpaceConfig config) {
        this.config = config;
    }

    @Override
    public Map<String, String> getCredentials(String name) {
        Map<String, String> credentials = new HashMap<>();
        credentials.put(USER_PROPERTY_NAME, config.database().user());
        Optional<Path> file = config.database().passwordFile();
        if (file.isPresent()) {
            try (Secret password = SecretFiles.read("database password", file.get())) {
                credentials.put(PASSWORD_PROPERTY_NAME, password.text());
            }
        }
        return credentials;
    }
}
