package dev.space.cli.command;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What follows after a time, written SECONDS or SECONDS:ACTION. */
record AfterTime(long seconds, String action) {

    /** What ends a policy. */
    static final String NEVER = "never";

    /** A pause where no action is named: nothing is lost by it. */
    static AfterTime of(CommandLine command, String option, String text) {
        if (!text.matches("[0-9]{1,9}(:[a-z]+)?")) {
            throw new ParameterException(
                    command, option + " takes SECONDS or SECONDS:ACTION, not " + text);
        }
        int colon = text.indexOf(':');
        return colon < 0
                ? new AfterTime(Long.parseLong(text), "pause")
                : new AfterTime(
                        Long.parseLong(text.substring(0, colon)), text.substring(colon + 1));
    }

    /** As the API takes it; null for {@link #NEVER}. */
    static @Nullable Map<String, Object> change(CommandLine command, String option, String text) {
        if (text.equals(NEVER)) {
            return null;
        }
        AfterTime after = of(command, option, text);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("afterSeconds", after.seconds());
        fields.put("action", after.action());
        return fields;
    }
}
