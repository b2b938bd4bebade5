package dev.space.service.problem;

import dev.space.model.Command;
import java.util.Locale;

/** Names of commands in the API. */
public final class Commands {
    private Commands() {}

    public static String wireName(Command command) {
        return command.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
