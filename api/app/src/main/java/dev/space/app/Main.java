package dev.space.app;

import dev.space.service.config.ConfigKeys;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.jboss.logging.Logger;

/**
 * Checks the configuration before anything starts, then runs the application. The properties file
 * is named by {@code --config FILE} or by SMALLRYE_CONFIG_LOCATIONS.
 */
@QuarkusMain
public final class Main {
    static final String LOCATIONS = "smallrye.config.locations";

    /** Exit code of a configuration that is wrong, so that a supervisor does not try again. */
    static final int EXIT_CONFIG = 78;

    private static final Logger LOG = Logger.getLogger(Main.class);

    private Main() {}

    /** Starts the control plane. */
    public static void main(String[] args) throws IOException {
        String location = location(args);
        List<String> complaints = complaints(location);
        if (!complaints.isEmpty()) {
            complaints.forEach(LOG::error);
            System.exit(EXIT_CONFIG);
        }
        if (!location.isEmpty()) {
            System.setProperty(LOCATIONS, location);
        }
        Quarkus.run();
    }

    private static String location(String[] args) {
        if (args.length == 2 && args[0].equals("--config")) {
            return Path.of(args[1]).toUri().toString();
        }
        String property = System.getProperty(LOCATIONS);
        String variable = System.getenv("SMALLRYE_CONFIG_LOCATIONS");
        return property != null ? property : variable != null ? variable : "";
    }

    static List<String> complaints(String location) throws IOException {
        if (location.isEmpty()) {
            return List.of();
        }
        Path file =
                location.startsWith("file:") ? Path.of(URI.create(location)) : Path.of(location);
        if (!Files.isReadable(file)) {
            return List.of("the configuration file " + file + " cannot be read");
        }
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            properties.load(in);
        }
        return ConfigKeys.complaints(properties.stringPropertyNames());
    }
}
