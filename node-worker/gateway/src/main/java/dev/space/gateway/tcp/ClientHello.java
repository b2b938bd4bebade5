package dev.space.gateway.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The first message of a TLS connection, read as far as its server name. Everything that a server
 * might read differently is malformed.
 *
 * @param serverName as it was sent
 * @param hidesName the message carries an encrypted ClientHello, whose real name nobody can see
 * @param protocols that the client speaks inside (ALPN), in its order; empty when it says nothing
 */
public record ClientHello(Optional<String> serverName, boolean hidesName, List<String> protocols) {

    /** Of all records that carry the message, with their headers. */
    static final int BYTES_MAX = 20 << 10;

    private static final int RECORD_HEADER_BYTES = 5;
    private static final int RECORD_BYTES_MAX = 16 << 10;
    private static final int RECORD_HANDSHAKE = 22;
    private static final int MESSAGE_CLIENT_HELLO = 1;
    private static final int MESSAGE_HEADER_BYTES = 4;
    private static final int RANDOM_AND_VERSION_BYTES = 34;
    private static final int SESSION_BYTES_MAX = 32;
    private static final int EXTENSION_SERVER_NAME = 0;
    private static final int EXTENSION_PROTOCOLS = 16;
    private static final int EXTENSION_ENCRYPTED_HELLO = 0xfe0d;
    private static final int EXTENSIONS_MAX = 64;
    private static final int NAME_BYTES_MAX = 255;
    private static final int PROTOCOLS_MAX = 32;

    public ClientHello {
        protocols = List.copyOf(protocols);
    }

    /** What is no ClientHello. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String why) {
            super(why, null, false, false);
        }
    }

    /** Reads what has come so far, without moving any index; empty when more must come. */
    static Optional<ClientHello> read(ByteBuf bytes) throws Malformed {
        ByteBuf message = Unpooled.buffer(Math.min(bytes.readableBytes(), BYTES_MAX));
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (true) {
            Optional<Integer> whole = length(message);
            if (whole.isPresent() && message.readableBytes() >= whole.get()) {
                if (message.readableBytes() > whole.get()) {
                    throw new Malformed("something follows the ClientHello in its record");
                }
                message.skipBytes(MESSAGE_HEADER_BYTES);
                return Optional.of(body(message));
            }
            if (at < end && bytes.getUnsignedByte(at) != RECORD_HANDSHAKE) {
                throw new Malformed("no handshake record");
            }
            if (end - at < RECORD_HEADER_BYTES) {
                return needMore(end - bytes.readerIndex());
            }
            int length = bytes.getUnsignedShort(at + 3);
            if (bytes.getUnsignedByte(at + 1) != 3 || length == 0 || length > RECORD_BYTES_MAX) {
                throw new Malformed("no TLS record");
            }
            int here = Math.min(length, end - at - RECORD_HEADER_BYTES);
            message.writeBytes(bytes, at + RECORD_HEADER_BYTES, here);
            if (here < length) {
                Optional<Integer> _ = length(message);
                return needMore(end - bytes.readerIndex());
            }
            at += RECORD_HEADER_BYTES + length;
        }
    }

    private static Optional<ClientHello> needMore(int sofar) throws Malformed {
        if (sofar >= BYTES_MAX) {
            throw new Malformed("longer than any ClientHello");
        }
        return Optional.empty();
    }

    /** Of the message with its header, once its header is there. */
    private static Optional<Integer> length(ByteBuf message) throws Malformed {
        if (message.readableBytes() > 0 && message.getByte(0) != MESSAGE_CLIENT_HELLO) {
            throw new Malformed("another handshake message");
        }
        if (message.readableBytes() < MESSAGE_HEADER_BYTES) {
            return Optional.empty();
        }
        int length = MESSAGE_HEADER_BYTES + message.getUnsignedMedium(1);
        if (length > BYTES_MAX) {
            throw new Malformed("longer than any ClientHello");
        }
        return Optional.of(length);
    }

    private static ClientHello body(ByteBuf in) throws Malformed {
        if (in.readableBytes() < RANDOM_AND_VERSION_BYTES
                || in.getUnsignedByte(in.readerIndex()) != 3) {
            throw new Malformed("another protocol's version");
        }
        in.skipBytes(RANDOM_AND_VERSION_BYTES);
        if (vector(in, 1).readableBytes() > SESSION_BYTES_MAX) {
            throw new Malformed("a session id that is too long");
        }
        vector(in, 2);
        vector(in, 1);
        if (!in.isReadable()) {
            return new ClientHello(Optional.empty(), false, List.of());
        }
        ByteBuf extensions = vector(in, 2);
        if (in.isReadable()) {
            throw new Malformed("something follows the extensions");
        }
        return extensions(extensions);
    }

    private static ClientHello extensions(ByteBuf in) throws Malformed {
        Optional<String> name = Optional.empty();
        Optional<List<String>> protocols = Optional.empty();
        boolean hides = false;
        for (int i = 0; in.isReadable(); i++) {
            if (i == EXTENSIONS_MAX || in.readableBytes() < 4) {
                throw new Malformed("extensions that do not end");
            }
            int type = in.readUnsignedShort();
            ByteBuf content = vector(in, 2);
            if (type == EXTENSION_SERVER_NAME) {
                if (name.isPresent()) {
                    throw new Malformed("two server names");
                }
                name = Optional.of(serverName(content));
            }
            if (type == EXTENSION_PROTOCOLS) {
                if (protocols.isPresent()) {
                    throw new Malformed("two lists of protocols");
                }
                protocols = Optional.of(protocols(content));
            }
            hides |= type == EXTENSION_ENCRYPTED_HELLO;
        }
        return new ClientHello(name, hides, protocols.orElse(List.of()));
    }

    /** A list, of which every client sends one entry. */
    private static String serverName(ByteBuf content) throws Malformed {
        ByteBuf list = vector(content, 2);
        if (content.isReadable() || list.readableBytes() < 3 || list.readByte() != 0) {
            throw new Malformed("no host name where the server name should be");
        }
        ByteBuf name = vector(list, 2);
        if (list.isReadable() || !name.isReadable() || name.readableBytes() > NAME_BYTES_MAX) {
            throw new Malformed("not one host name");
        }
        return name.toString(StandardCharsets.ISO_8859_1);
    }

    /** Names of one byte and more. */
    private static List<String> protocols(ByteBuf content) throws Malformed {
        ByteBuf list = vector(content, 2);
        List<String> names = new ArrayList<>();
        while (list.isReadable()) {
            ByteBuf name = vector(list, 1);
            if (!name.isReadable() || names.size() == PROTOCOLS_MAX) {
                throw new Malformed("no list of protocols");
            }
            names.add(name.toString(StandardCharsets.ISO_8859_1));
        }
        if (content.isReadable() || names.isEmpty()) {
            throw new Malformed("no list of protocols");
        }
        return names;
    }

    /** A length of so many bytes and what it announces. */
    private static ByteBuf vector(ByteBuf in, int lengthBytes) throws Malformed {
        if (in.readableBytes() < lengthBytes) {
            throw new Malformed("cut off");
        }
        int length = lengthBytes == 1 ? in.readUnsignedByte() : in.readUnsignedShort();
        if (in.readableBytes() < length) {
            throw new Malformed("cut off");
        }
        return in.readSlice(length);
    }
}
