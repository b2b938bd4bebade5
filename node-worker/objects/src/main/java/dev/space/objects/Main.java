package dev.space.objects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * The process: {@code --config FILE} names a properties file with {@code space.objects.port},
 * {@code data-dir}, {@code access-key} and {@code secret-key-file}.
 */
public final class Main {

    private Main() {}

    public static void main(String[] args) throws Exception {
        if (args.length != 2 || !args[0].equals("--config")) {
            throw new IllegalArgumentException("usage: --config FILE");
        }
        Properties config = new Properties();
        try (var in = Files.newBufferedReader(Path.of(args[1]))) {
            config.load(in);
        }
        ObjectServer server =
                ObjectServer.start(
                        Path.of(required(config, "data-dir")),
                        Integer.parseInt(required(config, "port")),
                        required(config, "access-key"),
                        secret(Path.of(required(config, "secret-key-file"))));
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "stop"));
    }

    private static String required(Properties config, String name) {
        String key = "space.objects." + name;
        String value = config.getProperty(key, "");
        if (value.isBlank()) {
            throw new IllegalArgumentException(key + " is not set");
        }
        return value.strip();
    }

    private static String secret(Path file) throws IOException {
        return Files.readString(file).strip();
    }
}
