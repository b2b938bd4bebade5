package dev.space.node.engine.spi;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a sandbox's guest can be asked. Calls block, are bounded in time, and fail with a {@code
 * SpaceException}. While the VM stands still for a checkpoint they wait. Everything that comes from
 * a guest is hostile: lengths and counts are bounded by the implementation.
 */
public interface Guest {

    /** The guest's clock, as proof that it answers. */
    long pingUnixNanos();

    /**
     * Starts a process, or finds the one of the same id, and delivers its output to the sink from
     * the beginning.
     */
    GuestProcess start(ProcessStart start, OutputSink sink);

    /** Delivers output of a process from the given offsets on. Ends an earlier delivery of it. */
    GuestProcess attach(String processId, long stdoutFrom, long stderrFrom, OutputSink sink);

    /** Every process the guest still knows. */
    List<GuestProcess> processes();

    /** Offset up to which input is accepted; a repeated piece is written once. */
    long writeStdin(String processId, long offset, ByteString data, boolean eof);

    void signal(String processId, int signal);

    /** An ended process whose result and output are kept elsewhere; never fails, may come late. */
    void forget(String processId);

    GuestFile stat(GuestPath path);

    void list(GuestPath path, Consumer<GuestFile> each);

    /** Negative length: to the end. The first callback has the file's description. */
    void read(GuestPath path, long offset, long length, FileReader reader);

    /** Atomic: the name changes only when the source has ended. */
    GuestFile write(GuestPath path, int mode, boolean makeParents, DataSource source);

    GuestFile makeDirectory(GuestPath path, boolean parents, int mode);

    void remove(GuestPath path, boolean recursive);

    GuestActivity activity();
}
