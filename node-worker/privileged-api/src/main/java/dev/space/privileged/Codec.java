package dev.space.privileged;

import java.util.ArrayList;
import java.util.List;

/**
 * Messages to bytes and back: version, kind, fields. Both ends ship together, so another version is
 * an error and not a dialect. Decoding fails with IllegalArgumentException and nothing else.
 */
public final class Codec {

    private static final int VERSION = 1;

    private static final int ENSURE = 1;
    private static final int START = 2;
    private static final int DESCRIBE = 3;
    private static final int FREEZE = 4;
    private static final int THAW = 5;
    private static final int KILL = 6;
    private static final int READ_EXIT = 7;
    private static final int RELEASE = 8;

    private static final int DONE = 64;
    private static final int SLOT_READY = 65;
    private static final int VMM_STARTED = 66;
    private static final int SLOTS = 67;
    private static final int EXIT = 68;
    private static final int REFUSED = 69;
    private static final int SOCKETS_ISSUED = 70;

    /** On the gateway's own socket; unknown on node-worker's. */
    private static final int ISSUE_SOCKETS = 32;

    private Codec() {}

    public static byte[] encode(Request request) {
        WireWriter w = new WireWriter().octet(VERSION);
        switch (request) {
            case Request.EnsureSlot r -> w.octet(ENSURE).int32(r.slot());
            case Request.StartVmm r -> start(w.octet(START), r);
            case Request.DescribeSlots _ -> w.octet(DESCRIBE);
            case Request.FreezeSlot r -> w.octet(FREEZE).int32(r.slot());
            case Request.ThawSlot r -> w.octet(THAW).int32(r.slot());
            case Request.KillVmm r -> w.octet(KILL).int32(r.slot());
            case Request.ReadExit r -> w.octet(READ_EXIT).int32(r.slot()).int64(r.startId());
            case Request.ReleaseSlot r -> w.octet(RELEASE).int32(r.slot());
        }
        return w.bytes();
    }

    private static void start(WireWriter w, Request.StartVmm r) {
        w.int32(r.slot()).int64(r.startId());
        w.text(r.directory().volume()).text(r.directory().area().name());
        w.text(r.directory().name()).text(r.bundleDigest());
        w.int32(r.memoryMiB()).int32(r.cpuPercent()).int32(r.tasks());
        w.int32(r.arguments().size());
        r.arguments().forEach(w::text);
    }

    public static Request decodeRequest(byte[] frame) {
        WireReader in = open(frame);
        Request request =
                switch (in.octet()) {
                    case ENSURE -> new Request.EnsureSlot(in.int32());
                    case START -> start(in);
                    case DESCRIBE -> new Request.DescribeSlots();
                    case FREEZE -> new Request.FreezeSlot(in.int32());
                    case THAW -> new Request.ThawSlot(in.int32());
                    case KILL -> new Request.KillVmm(in.int32());
                    case READ_EXIT -> new Request.ReadExit(in.int32(), in.int64());
                    case RELEASE -> new Request.ReleaseSlot(in.int32());
                    default -> throw new IllegalArgumentException("unknown request");
                };
        in.end();
        return request;
    }

    private static Request.StartVmm start(WireReader in) {
        int slot = in.int32();
        long startId = in.int64();
        String volume = in.text(256);
        VmDirectory.Area area = in.constant(VmDirectory.Area.values());
        VmDirectory directory = new VmDirectory(volume, area, in.text(256));
        String digest = in.text(256);
        int memory = in.int32();
        int cpu = in.int32();
        int tasks = in.int32();
        int count = in.int32();
        Checks.range(count, 1, PrivilegedLimits.ARGUMENTS_MAX, "arguments");
        List<String> arguments = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            arguments.add(in.text(PrivilegedLimits.ARGUMENT_BYTES_MAX));
        }
        return new Request.StartVmm(
                slot, startId, directory, digest, memory, cpu, tasks, arguments);
    }

    /** The one request of the gateway: sockets in this slot's namespace. */
    public static byte[] encodeIssueSockets(int slot) {
        Checks.slot(slot);
        return new WireWriter().octet(VERSION).octet(ISSUE_SOCKETS).int32(slot).bytes();
    }

    /** The slot that the gateway wants sockets of. */
    public static int decodeIssueSockets(byte[] frame) {
        WireReader in = open(frame);
        if (in.octet() != ISSUE_SOCKETS) {
            throw new IllegalArgumentException("unknown request");
        }
        int slot = in.int32();
        in.end();
        Checks.slot(slot);
        return slot;
    }

    public static byte[] encode(Reply reply) {
        WireWriter w = new WireWriter().octet(VERSION);
        switch (reply) {
            case Reply.Done _ -> w.octet(DONE);
            case Reply.SlotReady r -> w.octet(SLOT_READY).int32(r.slot()).int32(r.uid());
            case Reply.VmmStarted r ->
                    w.octet(VMM_STARTED).int32(r.slot()).int64(r.startId()).int32(r.pid());
            case Reply.Slots r -> {
                w.octet(SLOTS).int32(r.slots().size());
                r.slots().forEach(s -> slot(w, s));
            }
            case Reply.Exit r -> {
                w.octet(EXIT).text(r.exit().state().name()).int32(r.exit().value());
                w.int64(r.exit().oomKills());
                w.text(clip(r.exit().message(), PrivilegedLimits.MESSAGE_BYTES_MAX));
            }
            case Reply.SocketsIssued r -> w.octet(SOCKETS_ISSUED).int32(r.slot());
            case Reply.Refused r ->
                    w.octet(REFUSED)
                            .text(r.code().name())
                            .text(clip(r.detail(), PrivilegedLimits.DETAIL_BYTES_MAX));
        }
        return w.bytes();
    }

    public static Reply decodeReply(byte[] frame) {
        WireReader in = open(frame);
        Reply reply =
                switch (in.octet()) {
                    case DONE -> new Reply.Done();
                    case SLOT_READY -> new Reply.SlotReady(in.int32(), in.int32());
                    case VMM_STARTED -> new Reply.VmmStarted(in.int32(), in.int64(), in.int32());
                    case SLOTS -> slots(in);
                    case EXIT -> new Reply.Exit(exit(in));
                    case SOCKETS_ISSUED -> new Reply.SocketsIssued(in.int32());
                    case REFUSED ->
                            new Reply.Refused(
                                    in.constant(RefusalCode.values()),
                                    in.text(PrivilegedLimits.DETAIL_BYTES_MAX));
                    default -> throw new IllegalArgumentException("unknown reply");
                };
        in.end();
        return reply;
    }

    private static VmmExit exit(WireReader in) {
        return new VmmExit(
                in.constant(VmmExit.State.values()),
                in.int32(),
                in.int64(),
                in.text(PrivilegedLimits.MESSAGE_BYTES_MAX));
    }

    private static Reply.Slots slots(WireReader in) {
        int count = in.int32();
        Checks.range(count, 0, PrivilegedLimits.SLOTS_MAX, "slots");
        List<SlotInfo> slots = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            slots.add(
                    new SlotInfo(
                            in.int32(),
                            in.flag(),
                            in.flag(),
                            in.int32(),
                            in.int64(),
                            in.text(80),
                            in.int64(),
                            in.int64(),
                            in.int64(),
                            in.int64()));
        }
        return new Reply.Slots(slots);
    }

    private static void slot(WireWriter w, SlotInfo s) {
        w.int32(s.slot()).flag(s.alive()).flag(s.frozen()).int32(s.pid()).int64(s.startId());
        w.text(s.directory()).int64(s.memoryBytes()).int64(s.memoryPeakBytes());
        w.int64(s.cpuMicros()).int64(s.oomKills());
    }

    private static WireReader open(byte[] frame) {
        WireReader in = new WireReader(frame);
        int version = in.octet();
        if (version != VERSION) {
            throw new IllegalArgumentException("protocol version " + version + ", not " + VERSION);
        }
        return in;
    }

    /** At most so many bytes of UTF-8; one character takes three at most, a surrogate pair four. */
    private static String clip(String text, int bytesMax) {
        return text.length() * 3L <= bytesMax ? text : text.substring(0, bytesMax / 3);
    }
}
