package dev.space.guest.channel;

import com.google.protobuf.ByteString;
import dev.space.guest.protocol.AttachOutput;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.Freeze;
import dev.space.guest.protocol.FreezeFileSystem;
import dev.space.guest.protocol.GetProcess;
import dev.space.guest.protocol.GetStatus;
import dev.space.guest.protocol.ListProcesses;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.Ping;
import dev.space.guest.protocol.Pong;
import dev.space.guest.protocol.PowerOff;
import dev.space.guest.protocol.ProcessInfo;
import dev.space.guest.protocol.Reply;
import dev.space.guest.protocol.Request;
import dev.space.guest.protocol.SignalProcess;
import dev.space.guest.protocol.StartProcess;
import dev.space.guest.protocol.Status;
import dev.space.guest.protocol.StdinAccepted;
import dev.space.guest.protocol.Sync;
import dev.space.guest.protocol.Thaw;
import dev.space.guest.protocol.ThawFileSystem;
import dev.space.guest.protocol.WriteStdin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The daemon's requests as methods; files are in {@link GuestFiles}. Each call takes at most the
 * client's time-out, plus the wait that it asks the guest for. Thread safe, holds nothing but the
 * channel.
 */
public final class GuestClient {

    /** More than a daemon keeps, finished ones included. */
    private static final int PROCESSES_LISTED_MAX = 4096;

    private final GuestChannel channel;
    private final Duration timeout;

    public GuestClient(GuestChannel channel, Duration timeout) {
        this.channel = channel;
        this.timeout = timeout;
    }

    public static Request pingRequest() {
        return Request.newBuilder().setPing(Ping.getDefaultInstance()).build();
    }

    public static Request bindRequest(Bind bind) {
        return Request.newBuilder().setBind(bind).build();
    }

    public static Request startRequest(StartProcess start) {
        return Request.newBuilder().setStartProcess(start).build();
    }

    public static Request attachRequest(
            String id, OutputStream stream, long offset, boolean follow) {
        var attach =
                AttachOutput.newBuilder()
                        .setId(id)
                        .setStream(stream)
                        .setOffset(offset)
                        .setFollow(follow);
        return Request.newBuilder().setAttachOutput(attach).build();
    }

    public static Request getRequest(String id, Duration wait, boolean release) {
        var get =
                GetProcess.newBuilder()
                        .setId(id)
                        .setWaitMillis(wait.toMillis())
                        .setRelease(release);
        return Request.newBuilder().setGetProcess(get).build();
    }

    public Pong ping() {
        var reply = channel.call(pingRequest(), timeout);
        return expect(reply.hasPong(), reply).getPong();
    }

    /** Makes the sandbox the session's own; may be repeated. */
    public void bind(Bind bind) {
        var reply = channel.call(bindRequest(bind), timeout);
        var _ = expect(reply.hasBound(), reply);
    }

    public Status status() {
        var request = Request.newBuilder().setStatus(GetStatus.getDefaultInstance()).build();
        var reply = channel.call(request, timeout);
        return expect(reply.hasStatus(), reply).getStatus();
    }

    /**
     * Stops the workload for a snapshot; true when all of it stood still in time. The daemon thaws
     * by itself after two seconds of running time without a word from the host.
     */
    public boolean freeze() {
        var request = Request.newBuilder().setFreeze(Freeze.getDefaultInstance()).build();
        var reply = channel.call(request, timeout);
        return expect(reply.hasFrozen(), reply).getFrozen().getQuiesced();
    }

    /** Lets the workload go on; a handshake does the same. */
    public void thaw() {
        done(Request.newBuilder().setThaw(Thaw.getDefaultInstance()).build());
    }

    /** Stops writes to the root file system; the daemon lifts that itself after the time given. */
    public void freezeFileSystem(Duration atMost) {
        var freeze = FreezeFileSystem.newBuilder().setTimeoutMillis((int) atMost.toMillis());
        done(Request.newBuilder().setFreezeFileSystem(freeze).build());
    }

    public void thawFileSystem() {
        done(Request.newBuilder().setThawFileSystem(ThawFileSystem.getDefaultInstance()).build());
    }

    /** Writes the guest's dirty pages to its disk. */
    public void sync() {
        done(Request.newBuilder().setSync(Sync.getDefaultInstance()).build());
    }

    public void powerOff() {
        done(Request.newBuilder().setPowerOff(PowerOff.getDefaultInstance()).build());
    }

    private void done(Request request) {
        var reply = channel.call(request, timeout);
        var _ = expect(reply.hasDone(), reply);
    }

    /** Starts a process, or answers the one that has this id already. */
    public ProcessInfo start(StartProcess start) {
        return process(startRequest(start), timeout);
    }

    /** The state of a process once it ended or the wait is over. */
    public ProcessInfo get(String id, Duration wait, boolean release) {
        return process(getRequest(id, wait, release), timeout.plus(wait));
    }

    /** Signals the whole tree of the process, or its main process alone. */
    public ProcessInfo signal(String id, int signal, boolean mainOnly) {
        var body = SignalProcess.newBuilder().setId(id).setSignal(signal).setMainOnly(mainOnly);
        return process(Request.newBuilder().setSignalProcess(body).build(), timeout);
    }

    private ProcessInfo process(Request request, Duration atMost) {
        var reply = channel.call(request, atMost);
        return expect(reply.hasProcess(), reply).getProcess();
    }

    public List<ProcessInfo> list() {
        var request =
                Request.newBuilder().setListProcesses(ListProcesses.getDefaultInstance()).build();
        var all = new ArrayList<ProcessInfo>();
        try (var stream = channel.open(request)) {
            for (var reply = stream.replyOrEnd(timeout);
                    reply != null;
                    reply = stream.replyOrEnd(timeout)) {
                all.addAll(expect(reply.hasProcesses(), reply).getProcesses().getProcessesList());
                if (all.size() > PROCESSES_LISTED_MAX) {
                    throw FrameDecoder.broken("an endless list of processes");
                }
            }
        }
        return List.copyOf(all);
    }

    /** Output from an offset on; the caller closes it. */
    public ProcessOutput attach(String id, OutputStream stream, long offset, boolean follow) {
        return ProcessOutput.of(channel.open(attachRequest(id, stream, offset, follow)), timeout);
    }

    /**
     * Writes to a process's standard input; waits while the process does not read. What was
     * accepted before is skipped, so that a piece can be sent again.
     *
     * @return where the next piece begins; closed when the process reads no more
     */
    public StdinAccepted writeStdin(
            String id, long offset, ByteString data, boolean eof, Duration atMost) {
        var at = 0;
        while (true) {
            var end = Math.min(data.size(), at + ChannelLimits.DATA_BYTES_MAX);
            var last = end == data.size();
            var body =
                    WriteStdin.newBuilder()
                            .setId(id)
                            .setOffset(offset + at)
                            .setData(data.substring(at, end))
                            .setEof(eof && last);
            var reply = channel.call(Request.newBuilder().setWriteStdin(body).build(), atMost);
            var accepted = expect(reply.hasStdinAccepted(), reply).getStdinAccepted();
            if (last || accepted.getClosed()) {
                return accepted;
            }
            at = end;
        }
    }

    static Reply expect(boolean right, Reply reply) {
        if (!right) {
            throw FrameDecoder.broken("a reply of kind " + reply.getBodyCase());
        }
        return reply;
    }
}
