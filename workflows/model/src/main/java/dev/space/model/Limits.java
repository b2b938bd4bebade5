package dev.space.model;

/** Every bound of the platform that a user can run into, in one place. Units are in the names. */
public final class Limits {

    /** Output of one exec that the answer carries, per stream; more is dropped and said so. */
    public static final int EXEC_OUTPUT_BYTES_MAX = 1 << 20;

    /** Output of one process that the node keeps, per stream; the oldest is dropped and counted. */
    public static final long PROCESS_OUTPUT_BYTES_MAX = 16L << 20;

    /** Processes that may run at once in one session by default. */
    public static final int PROCESSES_DEFAULT_MAX = 5;

    /** Finished processes of one sandbox whose result is kept until read or expired. */
    public static final int PROCESSES_FINISHED_MAX = 256;

    /** Body of one JSON request. */
    public static final int JSON_BODY_BYTES_MAX = 1 << 20;

    /** One file written through the API. */
    public static final long FILE_BYTES_MAX = 4L << 30;

    /** One path inside a sandbox, in bytes; the kernel's own bound. */
    public static final int PATH_BYTES_MAX = 4096;

    /** Arguments and environment of one process together. */
    public static final int PROCESS_SPEC_BYTES_MAX = 128 << 10;

    /** Labels of one session. */
    public static final int LABELS_MAX = 32;

    /** One label's key or value, in characters. */
    public static final int LABEL_CHARS_MAX = 128;

    /** Environment variables of one session. */
    public static final int ENV_MAX = 128;

    /** Checkpoints of one session that have a name, which nothing but a user removes. */
    public static final int SNAPSHOTS_NAMED_MAX = 256;

    /** Sessions that one fork makes. */
    public static final int FORK_CHILDREN_MAX = 100;

    /** Time-out of one exec when the caller names none. */
    public static final long EXEC_TIMEOUT_MILLIS_DEFAULT = 60_000;

    /** Longest time-out of one exec. */
    public static final long EXEC_TIMEOUT_MILLIS_MAX = 3_600_000;

    /** How long an API call waits for its operation when the caller does not say. */
    public static final long OPERATION_WAIT_MILLIS_DEFAULT = 60_000;

    /** How long an API call can wait for its operation at most. */
    public static final long OPERATION_WAIT_MILLIS_MAX = 300_000;

    /** Nodes of one platform side by side on one machine; with more their uids leave 16 bits. */
    public static final int NODES_ON_MACHINE_MAX = 4;

    /** Connections to one control plane; beyond that the one that is idle longest is closed. */
    public static final int HTTP_CONNECTIONS_MAX = 1024;

    /** From the first byte of a request to the end of its head. */
    public static final long HTTP_HEAD_MILLIS_MAX = 10_000;

    /** How long a connection stays open without a request. */
    public static final long HTTP_IDLE_MILLIS_MAX = 60_000;

    /** What a body must bring in each second that the platform waits for it, on average. */
    public static final int HTTP_BODY_BYTES_PER_SECOND_MIN = 4096;

    /** What a body may be late by that. */
    public static final long HTTP_BODY_GRACE_MILLIS = 20_000;

    private Limits() {}
}
