package dev.space.node.dataplane;

import com.google.protobuf.ByteString;
import dev.space.node.engine.spi.GuestProcess;
import dev.space.node.engine.spi.ProcessStart;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a process beside its output. Bytes are in base 64, since argv is no text.
 *
 * @param request digest of the request that started it; null where nobody knows it any more
 * @param lives null in records of a version that did not count them
 */
record ProcessMeta(
        GuestProcess state,
        List<String> argv,
        String command,
        @Nullable String request,
        @Nullable Lives lives) {

    static final String FILE = "meta.json";

    static ProcessMeta of(GuestProcess state, ProcessStart start, ByteString request, String life) {
        return new ProcessMeta(
                state,
                start.argv().stream().map(ProcessMeta::text).toList(),
                text(start.command()),
                request.isEmpty() ? null : text(request),
                Lives.first(life));
    }

    /** One of which only the guest knows. */
    static ProcessMeta found(GuestProcess state, String life) {
        return new ProcessMeta(state, List.of(), "", null, Lives.first(life));
    }

    ProcessMeta with(GuestProcess next) {
        return new ProcessMeta(next, argv, command, request, lives);
    }

    ProcessMeta with(Lives next) {
        return new ProcessMeta(state, argv, command, request, next);
    }

    /** False only where both are known and differ. */
    boolean isOf(ByteString other) {
        return request == null || other.isEmpty() || request.equals(text(other));
    }

    List<ByteString> argvBytes() {
        return argv.stream().map(ProcessMeta::bytes).toList();
    }

    ByteString commandBytes() {
        return bytes(command);
    }

    private static String text(ByteString bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFrom(Base64.getDecoder().decode(text));
    }
}
