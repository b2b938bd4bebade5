package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.nodeapi.v1.FileInfo;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * A file as the API shows it. {@code path} is percent-encoded, so that any name survives; {@code
 * name} is for people.
 */
@Schema(name = "File")
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FileView(
        String path,
        String name,
        String kind,
        long size,
        String mode,
        String owner,
        String group,
        Instant modifiedAt,
        @Nullable String symlinkTarget) {

    private static final long NANOS = 1_000_000_000L;

    static FileView of(FileInfo info) {
        long nanos = info.getModifiedUnixNanos();
        return new FileView(
                GuestPaths.encode(info.getPath()),
                info.getName().toStringUtf8(),
                info.getKind(),
                info.getSize(),
                String.format("%04o", info.getMode()),
                info.getOwner(),
                info.getGroup(),
                Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS)),
                info.getSymlinkTarget().isEmpty()
                        ? null
                        : GuestPaths.encode(info.getSymlinkTarget()));
    }
}
