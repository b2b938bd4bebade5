package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.protobuf.ByteString;
import dev.space.nodeapi.v1.ProcessInfo;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A process as the API shows it. */
@Schema(name = "Process")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ProcessView(
        String id,
        int pid,
        String state,
        @Nullable Integer exitCode,
        @Nullable Integer signal,
        @Nullable String reason,
        @Nullable String detail,
        Instant startedAt,
        @Nullable Instant endedAt,
        long stdoutBytes,
        long stderrBytes,
        @Nullable List<String> argv,
        @Nullable String command) {

    static ProcessView of(ProcessInfo info) {
        boolean ended = !info.getState().equals("RUNNING");
        return new ProcessView(
                info.getProcessId(),
                info.getPid(),
                info.getState(),
                ended ? info.getExitCode() : null,
                info.getSignal() == 0 ? null : info.getSignal(),
                info.getReason().isEmpty() ? null : info.getReason(),
                info.getDetail().isEmpty() ? null : info.getDetail(),
                Instant.ofEpochMilli(info.getStartedAtMillis()),
                ended ? Instant.ofEpochMilli(info.getEndedAtMillis()) : null,
                info.getStdoutBytes(),
                info.getStderrBytes(),
                info.getArgvCount() == 0
                        ? null
                        : info.getArgvList().stream().map(ByteString::toStringUtf8).toList(),
                info.getCommand().isEmpty() ? null : info.getCommand().toStringUtf8());
    }
}
