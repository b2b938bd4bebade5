package dev.space.privileged;

import java.util.List;

/** The answers; each request says which one it gets, and any may get {@link Refused}. */
public sealed interface Reply {

    /** To FreezeSlot, ThawSlot, KillVmm and ReleaseSlot. */
    record Done() implements Reply {}

    /** To EnsureSlot: the slot's uid, which is its gid too. */
    record SlotReady(int slot, int uid) implements Reply {}

    /** To StartVmm: the VMM was executed; its sockets accept connections. */
    record VmmStarted(int slot, long startId, int pid) implements Reply {}

    /** To DescribeSlots: only slots of which something exists. */
    record Slots(List<SlotInfo> slots) implements Reply {
        public Slots {
            slots = List.copyOf(slots);
            Checks.range(slots.size(), 0, PrivilegedLimits.SLOTS_MAX, "slots");
        }
    }

    /** To ReadExit. */
    record Exit(VmmExit exit) implements Reply {}

    /** To the gateway's IssueSockets; a TCP and a UDP descriptor come with the frame. */
    record SocketsIssued(int slot) implements Reply {}

    /** The request was not carried out, or not to its end; the detail says what to do. */
    record Refused(RefusalCode code, String detail) implements Reply {}
}
