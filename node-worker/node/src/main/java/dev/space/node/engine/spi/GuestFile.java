package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;

/**
 * Description of a file.
 *
 * @param kind {@code file}, {@code directory}, {@code symlink} or {@code other}
 */
public record GuestFile(
        ByteString path,
        ByteString name,
        String kind,
        long size,
        int mode,
        String owner,
        String group,
        long modifiedUnixNanos,
        ByteString symlinkTarget) {}
