package dev.space.gateway.dns;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Writes answers. None is longer than its question and one address, so none is ever truncated. */
final class DnsAnswer {

    static final int NO_ERROR = 0;
    static final int FORMAT_ERROR = 1;
    static final int SERVER_FAILURE = 2;
    static final int REFUSED = 5;

    private static final int RESPONSE = 0x8000;
    private static final int RECURSION_DESIRED = 0x0100;
    private static final int RECURSION_AVAILABLE = 0x0080;
    private static final int POINTER_TO_QUESTION = 0xc00c;
    private static final int CLASS_IN = 1;
    private static final int ADDRESS_BYTES = 4;
    private static final int ANSWER_BYTES = 16;

    private DnsAnswer() {}

    /** The name's one address. */
    static ByteBuf address(ByteBufAllocator alloc, DnsQuery query, int address, int ttlSeconds) {
        ByteBuf out = header(alloc, query, NO_ERROR, 1);
        out.writeShort(POINTER_TO_QUESTION).writeShort(DnsQuery.TYPE_A).writeShort(CLASS_IN);
        out.writeInt(ttlSeconds).writeShort(ADDRESS_BYTES).writeInt(address);
        return out;
    }

    /** No record: NO_ERROR where the name exists but not with this type, else the refusal. */
    static ByteBuf empty(ByteBufAllocator alloc, DnsQuery query, int code) {
        return header(alloc, query, code, 0);
    }

    /** For what could not be read beyond its id. */
    static ByteBuf malformed(ByteBufAllocator alloc, int id) {
        ByteBuf out = alloc.buffer(DnsQuery.HEADER_BYTES);
        return out.writeShort(id).writeShort(RESPONSE | FORMAT_ERROR).writeZero(8);
    }

    private static ByteBuf header(ByteBufAllocator alloc, DnsQuery query, int code, int answers) {
        byte[] question = query.question();
        ByteBuf out = alloc.buffer(DnsQuery.HEADER_BYTES + question.length + ANSWER_BYTES);
        int desired = query.wantsRecursion() ? RECURSION_DESIRED : 0;
        out.writeShort(query.id()).writeShort(RESPONSE | desired | RECURSION_AVAILABLE | code);
        out.writeShort(1).writeShort(answers).writeInt(0);
        return out.writeBytes(question);
    }
}
