package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.Map;

/**
 * A process to start. Exactly one of {@code argv} and {@code command} is not empty.
 *
 * @param id chosen by the caller, so that a retry starts nothing twice
 * @param command run by the shell
 * @param cwd empty: the user's home
 * @param user empty: the template's user
 * @param timeoutMillis 0: none
 * @param stdin false: the process reads end of file at once
 */
public record ProcessStart(
        String id,
        List<ByteString> argv,
        ByteString command,
        Map<String, String> env,
        ByteString cwd,
        String user,
        long timeoutMillis,
        boolean stdin) {

    public ProcessStart {
        argv = List.copyOf(argv);
        env = Map.copyOf(env);
    }
}
