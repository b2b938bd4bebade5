package dev.space.cli.supervisor;

import dev.space.cli.platform.Owned;
import dev.space.cli.platform.Users.User;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The properties file of one process, derived from the user's one file at every start. */
final class ProcessConfig {

    private final Map<String, String> values = new TreeMap<>();

    ProcessConfig set(String key, Object value) {
        values.put(key, String.valueOf(value));
        return this;
    }

    String text() {
        StringBuilder out = new StringBuilder("# Derived by the supervisor; edit space.yaml.\n");
        values.forEach((k, v) -> out.append(k).append('=').append(escape(v)).append('\n'));
        return out.toString();
    }

    private static String escape(String value) {
        return value.replace("\\", "\\\\").replace("\n", "\\n");
    }

    Path write(Path file, User reader) {
        return Owned.secret(file, reader, text());
    }
}
