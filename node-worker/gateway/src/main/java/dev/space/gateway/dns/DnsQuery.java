package dev.space.gateway.dns;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * One question, read strictly. What has more than one, is compressed, or is no question at all is
 * malformed.
 *
 * @param id as the asker chose it
 * @param wantsRecursion echoed in the answer
 * @param name as it was written, without a dot at the end; empty for the root
 * @param type of record
 * @param question name, type and class as they came, to be echoed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, lives for one answer
record DnsQuery(int id, boolean wantsRecursion, String name, int type, byte[] question) {

    static final int TYPE_A = 1;
    static final int HEADER_BYTES = 12;

    private static final int CLASS_IN = 1;
    private static final int NAME_BYTES_MAX = 255;
    private static final int LABEL_BYTES_MAX = 63;
    private static final int QUERY_MASK = 0xf800;
    private static final int RECURSION = 0x0100;

    /** What cannot be answered but with FORMERR. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String why) {
            super(why, null, false, false);
        }
    }

    /** Reads a datagram; its reader index is not moved. */
    static DnsQuery read(ByteBuf datagram) throws Malformed {
        int start = datagram.readerIndex();
        int end = datagram.writerIndex();
        if (end - start < HEADER_BYTES) {
            throw new Malformed("shorter than a header");
        }
        int flags = datagram.getUnsignedShort(start + 2);
        if ((flags & QUERY_MASK) != 0) {
            throw new Malformed("no standard query");
        }
        if (datagram.getUnsignedShort(start + 4) != 1
                || datagram.getUnsignedShort(start + 6) != 0
                || datagram.getUnsignedShort(start + 8) != 0) {
            throw new Malformed("not one question");
        }
        StringBuilder name = new StringBuilder();
        int at = start + HEADER_BYTES;
        while (true) {
            if (at >= end) {
                throw new Malformed("a name without end");
            }
            int length = datagram.getUnsignedByte(at++);
            if (length == 0) {
                break;
            }
            if (length > LABEL_BYTES_MAX
                    || at + length > end
                    || at + length - start - HEADER_BYTES >= NAME_BYTES_MAX) {
                throw new Malformed("a label that is too long or compressed");
            }
            String label = datagram.toString(at, length, StandardCharsets.ISO_8859_1);
            if (label.indexOf('.') >= 0) {
                throw new Malformed("a dot inside a label");
            }
            name.append(name.isEmpty() ? "" : ".").append(label);
            at += length;
        }
        if (at + 4 > end || datagram.getUnsignedShort(at + 2) != CLASS_IN) {
            throw new Malformed("no class, or not the Internet's");
        }
        byte[] question = new byte[at + 4 - start - HEADER_BYTES];
        datagram.getBytes(start + HEADER_BYTES, question);
        return new DnsQuery(
                datagram.getUnsignedShort(start),
                (flags & RECURSION) != 0,
                name.toString(),
                datagram.getUnsignedShort(at),
                question);
    }
}
