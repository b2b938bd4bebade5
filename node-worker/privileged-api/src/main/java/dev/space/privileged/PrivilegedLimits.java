package dev.space.privileged;

/** The bounds of the privileged protocol. Units are in the names. */
public final class PrivilegedLimits {

    /** One frame, request or reply. */
    public static final int FRAME_BYTES_MAX = 256 << 10;

    /** Slots of one node; uids of slots are a contiguous range of this length at most. */
    public static final int SLOTS_MAX = 1024;

    /** Arguments of one VMM. */
    public static final int ARGUMENTS_MAX = 256;

    /** All arguments of one VMM together, in bytes of UTF-8. */
    public static final int ARGUMENT_BYTES_MAX = 64 << 10;

    /** Memory limit of one VM's cgroup. */
    public static final int MEMORY_MIB_MIN = 64;

    public static final int MEMORY_MIB_MAX = 1 << 20;

    /** CPU limit of one VM's cgroup, in hundredths of one CPU. */
    public static final int CPU_PERCENT_MIN = 1;

    public static final int CPU_PERCENT_MAX = 100 * 1024;

    /** Tasks (threads) of one VMM. */
    public static final int TASKS_MIN = 8;

    public static final int TASKS_MAX = 4096;

    /** What a VMM said on stderr, kept with its exit record. */
    public static final int MESSAGE_BYTES_MAX = 16 << 10;

    /** Where a guest's TCP connections end, inside its slot's network namespace. */
    public static final int EGRESS_TCP_PORT = 15_001;

    /** Where a guest's DNS queries end, there too. */
    public static final int EGRESS_DNS_PORT = 15_053;

    /** Connections that wait for the gateway to take them. */
    public static final int EGRESS_BACKLOG = 128;

    /** Text that explains a refusal. */
    public static final int DETAIL_BYTES_MAX = 8 << 10;

    static {
        if (ARGUMENT_BYTES_MAX + ARGUMENTS_MAX * Integer.BYTES + 4096 > FRAME_BYTES_MAX
                || SLOTS_MAX * SlotInfo.WIRE_BYTES_MAX + 64 > FRAME_BYTES_MAX) {
            throw new AssertionError("a frame must hold the largest message");
        }
    }

    private PrivilegedLimits() {}
}
