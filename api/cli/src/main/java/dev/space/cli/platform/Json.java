package dev.space.cli.platform;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/** Small state files as JSON, replaced whole so that a reader never sees half of one. */
public final class Json {

    public static final ObjectMapper MAPPER =
            new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    private Json() {}

    public static void write(Path file, Object value) {
        Path next = file.resolveSibling("." + file.getFileName() + ".new");
        try {
            Files.write(next, MAPPER.writeValueAsBytes(value));
            Files.move(
                    next,
                    file,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new PlatformException("cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /** The file's value; nothing when it is not there or was cut by a crash of the machine. */
    public static <T> Optional<T> read(Path file, Class<T> type) {
        try {
            return Optional.of(MAPPER.readValue(Files.readAllBytes(file), type));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
