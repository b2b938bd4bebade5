package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;
import dev.space.model.ErrorCode;
import dev.space.model.Limits;
import dev.space.model.SpaceException;

/**
 * A file name inside a guest, seen with the rights of a user.
 *
 * @param bytes absolute or relative to the user's home; any bytes but NUL
 * @param user empty: the template's user
 */
public record GuestPath(ByteString bytes, String user) {

    public GuestPath {
        if (bytes.isEmpty() || bytes.size() > Limits.PATH_BYTES_MAX) {
            throw new SpaceException(
                    ErrorCode.INVALID_ARGUMENT,
                    "a path has 1 to " + Limits.PATH_BYTES_MAX + " bytes, not " + bytes.size());
        }
        for (int i = 0; i < bytes.size(); i++) {
            if (bytes.byteAt(i) == 0) {
                throw new SpaceException(
                        ErrorCode.INVALID_ARGUMENT, "a path cannot hold a NUL byte");
            }
        }
    }

    /** For records and logs of actions, bounded and printable; not for opening files. */
    public String printable() {
        return bytes.toStringUtf8().replaceAll("\\p{Cntrl}", "?");
    }
}
