package dev.space.service.rest;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;
import dev.space.nodeapi.v1.ProcessSpec;
import dev.space.service.edge.Leg;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What can be asked to run, with the checks that both ways of running share. */
final class ProcessRequests {
    private static final Pattern USER = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");
    private static final Pattern PROCESS_ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private ProcessRequests() {}

    /** Run and wait. */
    @Schema(name = "Exec")
    record Exec(
            @Nullable List<String> argv,
            @Nullable String command,
            @Nullable Map<String, String> env,
            @Nullable String cwd,
            @Nullable String user,
            @Nullable Long timeoutMillis,
            @Nullable String stdin,
            @Nullable String encoding) {

        long checkedTimeout() {
            long timeout =
                    timeoutMillis == null ? Limits.EXEC_TIMEOUT_MILLIS_DEFAULT : timeoutMillis;
            if (timeout < 1 || timeout > Limits.EXEC_TIMEOUT_MILLIS_MAX) {
                throw CreateSession.invalid(
                        "timeoutMillis is from 1 to " + Limits.EXEC_TIMEOUT_MILLIS_MAX);
            }
            return timeout;
        }

        boolean isBase64() {
            if (encoding == null || encoding.equals("utf8")) {
                return false;
            }
            if (encoding.equals("base64")) {
                return true;
            }
            throw CreateSession.invalid("encoding is utf8 or base64");
        }

        ByteString stdinBytes() {
            if (stdin == null) {
                return ByteString.EMPTY;
            }
            try {
                return isBase64()
                        ? ByteString.copyFrom(Base64.getDecoder().decode(stdin))
                        : ByteString.copyFromUtf8(stdin);
            } catch (IllegalArgumentException malformed) {
                throw new SpaceException(
                        ErrorCode.INVALID_ARGUMENT, "stdin is not valid base64", malformed);
            }
        }

        ProcessSpec spec(Leg leg) {
            return ProcessRequests.spec(leg, argv, command, env, cwd, user)
                    .setTimeoutMillis(checkedTimeout())
                    .setStdin(stdin != null)
                    .build();
        }
    }

    /** Start in the background. */
    @Schema(name = "StartProcess")
    record Start(
            @Nullable List<String> argv,
            @Nullable String command,
            @Nullable Map<String, String> env,
            @Nullable String cwd,
            @Nullable String user,
            @Nullable Long timeoutMillis,
            @Nullable Boolean stdin,
            @Nullable String processId) {

        ProcessSpec spec(Leg leg) {
            long timeout = timeoutMillis == null ? 0 : timeoutMillis;
            if (timeout < 0) {
                throw CreateSession.invalid("timeoutMillis is not negative; 0 means none");
            }
            return ProcessRequests.spec(leg, argv, command, env, cwd, user)
                    .setTimeoutMillis(timeout)
                    .setStdin(Boolean.TRUE.equals(stdin))
                    .build();
        }
    }

    /** An id from the caller makes a repeated start harmless. */
    static String processId(String id) {
        if (!PROCESS_ID.matcher(id).matches()) {
            throw CreateSession.invalid("processId is 1 to 64 letters, digits, _ and -");
        }
        return id;
    }

    /** What an earlier answer's header said. */
    static String life(String life) {
        if (!PROCESS_ID.matcher(life).matches()) {
            throw CreateSession.invalid(
                    "life is what the header " + ProcessOutput.LIFE_HEADER + " said");
        }
        return life;
    }

    /** Before anything is asked of a node. */
    static void check(
            @Nullable List<String> argv,
            @Nullable String command,
            @Nullable Map<String, String> env,
            @Nullable String cwd,
            @Nullable String user) {
        if ((argv == null) == (command == null)) {
            throw CreateSession.invalid("give exactly one of argv and command");
        }
        if (argv != null && (argv.isEmpty() || argv.stream().anyMatch(a -> a == null))) {
            throw CreateSession.invalid("argv has at least one argument and no null");
        }
        if (command != null && command.isBlank()) {
            throw CreateSession.invalid("command is empty");
        }
        long bytes = command == null ? 0 : bytes(command);
        for (String argument : argv == null ? List.<String>of() : argv) {
            bytes += bytes(argument);
        }
        if (bytes > Limits.PROCESS_SPEC_BYTES_MAX) {
            throw CreateSession.invalid(
                    "the command has at most "
                            + Limits.PROCESS_SPEC_BYTES_MAX
                            + " bytes; send more through a file or stdin");
        }
        CreateSession.checkEnv(env);
        if (cwd != null && (bytes(cwd) > Limits.PATH_BYTES_MAX || cwd.isEmpty())) {
            throw CreateSession.invalid("cwd has 1 to " + Limits.PATH_BYTES_MAX + " bytes");
        }
        if (user != null && !USER.matcher(user).matches()) {
            throw CreateSession.invalid("user " + CreateSession.printable(user) + " is no name");
        }
    }

    private static long bytes(String text) {
        if (text.indexOf('\0') >= 0) {
            throw CreateSession.invalid("a command, argument or directory contains NUL");
        }
        return text.getBytes(StandardCharsets.UTF_8).length + 1L;
    }

    private static ProcessSpec.Builder spec(
            Leg leg,
            @Nullable List<String> argv,
            @Nullable String command,
            @Nullable Map<String, String> env,
            @Nullable String cwd,
            @Nullable String user) {
        ProcessSpec.Builder spec =
                ProcessSpec.newBuilder().putAllEnv(leg.merged(env == null ? Map.of() : env));
        if (argv != null) {
            argv.forEach(argument -> spec.addArgv(ByteString.copyFromUtf8(argument)));
        }
        if (command != null) {
            spec.setCommand(ByteString.copyFromUtf8(command));
        }
        if (cwd != null) {
            spec.setCwd(ByteString.copyFromUtf8(cwd));
        }
        if (user != null) {
            spec.setUser(user);
        }
        return spec;
    }
}
