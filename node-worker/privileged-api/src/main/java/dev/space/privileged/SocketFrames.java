package dev.space.privileged;

import dev.space.nativeabi.Descriptor;
import dev.space.nativeabi.UnixSocket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Frames as {@link FrameChannel}'s, on a socket that carries descriptors. */
public final class SocketFrames {

    /** Far more than a request or an answer here has. */
    private static final int BYTES_MAX = PrivilegedLimits.DETAIL_BYTES_MAX + 64;

    private SocketFrames() {}

    public static void write(
            UnixSocket socket, byte[] frame, List<Descriptor> descriptors, Duration timeout)
            throws IOException {
        ByteBuffer out = ByteBuffer.allocate(Integer.BYTES + frame.length);
        out.putInt(frame.length).put(frame);
        socket.write(out.array(), descriptors, timeout);
    }

    /** The frame; descriptors that came with it are added, also when this fails. */
    public static byte[] read(UnixSocket socket, List<Descriptor> descriptors, Duration timeout)
            throws IOException {
        int length = ByteBuffer.wrap(socket.read(Integer.BYTES, descriptors, timeout)).getInt();
        if (length <= 0 || length > BYTES_MAX) {
            throw new IOException("a frame claims " + length + " bytes");
        }
        return socket.read(length, descriptors, timeout);
    }

    /** For a peer that may send none: what came is closed, and is an error. */
    public static byte[] readPlain(UnixSocket socket, Duration timeout) throws IOException {
        List<Descriptor> came = new ArrayList<>();
        try {
            byte[] frame = read(socket, came, timeout);
            if (!came.isEmpty()) {
                throw new IOException("the peer sent descriptors");
            }
            return frame;
        } finally {
            came.forEach(Descriptor::close);
        }
    }
}
