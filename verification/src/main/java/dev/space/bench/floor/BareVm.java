package dev.space.bench.floor;

import com.google.protobuf.ByteString;
import dev.space.guest.channel.Gate;
import dev.space.guest.channel.GuestChannel;
import dev.space.guest.channel.GuestClient;
import dev.space.guest.channel.GuestStream;
import dev.space.guest.channel.Handshake;
import dev.space.guest.channel.ProcessOutput;
import dev.space.guest.channel.Token;
import dev.space.guest.protocol.Bind;
import dev.space.guest.protocol.OutputStream;
import dev.space.guest.protocol.StartProcess;
import dev.space.nativeabi.Reflink;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One VM with nothing around it: its process, its control socket, its guest's channel. */
public final class BareVm implements AutoCloseable {

    private static final Duration ANSWER_MAX = Duration.ofSeconds(30);
    private static final int END_SECONDS_MAX = 10;
    private static final List<String> FILES = List.of("disk", "ram", "device");

    private final ColdStart start;
    private final ColdStart.Place place;
    private final Process process;
    private final Qmp qmp;
    private final GuestChannel channel;
    private final GuestClient guest;
    private Token token;
    private @Nullable Gate waits;
    private int checkpoints;

    private BareVm(
            ColdStart start,
            ColdStart.Place place,
            Process process,
            Qmp qmp,
            GuestChannel channel) {
        this.start = start;
        this.token = start.token();
        this.place = place;
        this.process = process;
        this.qmp = qmp;
        this.channel = channel;
        this.guest = new GuestClient(channel, ANSWER_MAX);
    }

    static BareVm restore(ColdStart start, ColdStart.Place place)
            throws IOException, InterruptedException {
        Path own = place.directory();
        for (String file : FILES) {
            Reflink.clone(start.snapshot().resolve(file), own.resolve(file));
        }
        Process process =
                new ProcessBuilder(start.command(place))
                        .redirectErrorStream(true)
                        .redirectOutput(own.resolve("log").toFile())
                        .start();
        BareVm vm = null;
        try {
            Qmp qmp = new Qmp(connect(own.resolve("qmp"), process));
            // Before the load: a port with output pending at the snapshot stays stuck otherwise.
            GuestChannel channel = GuestChannel.open(connect(own.resolve("agent"), process));
            vm = new BareVm(start, place, process, qmp, channel);
            vm.load();
            return vm;
        } finally {
            if (vm == null) {
                process.destroyForcibly();
            }
        }
    }

    private void load() throws IOException {
        capabilities();
        qmp.execute(
                "migrate-incoming", Map.of("uri", "file:" + place.directory().resolve("device")));
        qmp.awaitMigrated();
        qmp.execute("cont", Map.of());
        renew();
    }

    private void capabilities() throws IOException {
        qmp.execute(
                "migrate-set-capabilities",
                Map.of(
                        "capabilities",
                        List.of(
                                Map.of("capability", "events", "state", true),
                                Map.of("capability", "x-ignore-shared", "state", true))));
    }

    private static SocketChannel connect(Path path, Process process)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + ANSWER_MAX.toNanos();
        IOException last = null;
        while (System.nanoTime() < deadline) {
            if (process.waitFor(1, TimeUnit.MILLISECONDS)) {
                break;
            }
            if (!Files.exists(path)) {
                continue;
            }
            SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                var _ = socket.connect(UnixDomainSocketAddress.of(path));
                return socket;
            } catch (IOException e) {
                // Bound but not listening yet.
                socket.close();
                last = e;
            }
        }
        throw new IOException("QEMU did not listen at " + path + "; its log is beside it", last);
    }

    /** Runs a command to its end and gives what it wrote to standard output. */
    public String run(String... argv) {
        String id = UUID.randomUUID().toString();
        StartProcess.Builder spec = StartProcess.newBuilder().setId(id);
        for (String argument : argv) {
            spec.addArgv(ByteString.copyFromUtf8(argument));
        }
        // All in one write and before the first answer is read, as the node does.
        List<GuestStream> open =
                channel.open(
                        List.of(
                                GuestClient.startRequest(spec.build()),
                                GuestClient.attachRequest(
                                        id, OutputStream.OUTPUT_STREAM_STDOUT, 0, true),
                                GuestClient.attachRequest(
                                        id, OutputStream.OUTPUT_STREAM_STDERR, 0, true),
                                GuestClient.getRequest(id, ANSWER_MAX, true)));
        try (var started = open.get(0);
                var output = open.get(1);
                var errors = open.get(2);
                var end = open.get(3)) {
            var _ = started.reply(ANSWER_MAX);
            String text = text(ProcessOutput.of(output, ANSWER_MAX));
            var _ = text(ProcessOutput.of(errors, ANSWER_MAX));
            int code = end.reply(ANSWER_MAX).getProcess().getExitCode();
            if (code != 0) {
                throw new IllegalStateException(argv[0] + " ended with " + code);
            }
            return text;
        }
    }

    private static String text(ProcessOutput output) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte @Nullable [] piece = output.read(ANSWER_MAX);
        while (piece != null) {
            all.writeBytes(piece);
            piece = output.read(ANSWER_MAX);
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    /** Runs a command once and stands still, its workload frozen, as a hot VM waits. */
    public void makeHot(String... argv) throws IOException {
        var _ = guest.ping();
        var _ = run(argv);
        var _ = guest.freeze();
        waits = channel.gate();
        qmp.execute("stop", Map.of());
    }

    /** Goes on with its clock and its randomness renewed. */
    public void goOn() throws IOException {
        qmp.execute("cont", Map.of());
        Gate held = waits;
        waits = null;
        if (held != null) {
            held.close();
        }
        renew();
    }

    /** As a session's start: the workload stands still until the guest has its name. */
    private void renew() {
        Token next = Token.random(new SecureRandom());
        Bind bind = Bind.newBuilder().setHostname("bare").build();
        var _ =
                channel.handshake(
                        Handshake.afterStart(token, next),
                        GuestClient.bindRequest(bind),
                        ANSWER_MAX);
        token = next;
    }

    /** One stop: device state, clones of memory and disk, and on; the time it stood still. */
    public Duration checkpoint() throws IOException {
        Path into = Files.createDirectory(place.directory().resolve("checkpoint-" + ++checkpoints));
        Path device = Files.createFile(into.resolve("device"));
        var _ = guest.freeze();
        long began;
        try (Gate _ = channel.gate()) {
            began = System.nanoTime();
            qmp.execute("stop", Map.of());
            migrate(device);
            for (String file : List.of("ram", "disk")) {
                Reflink.clone(place.directory().resolve(file), into.resolve(file));
            }
            qmp.execute("cont", Map.of());
        }
        Duration stood = Duration.ofNanos(System.nanoTime() - began);
        guest.thaw();
        return stood;
    }

    /** QEMU may still be busy with the end of the last one, after it has said that it is done. */
    private void migrate(Path device) throws IOException {
        long deadline = System.nanoTime() + ANSWER_MAX.toNanos();
        while (true) {
            try {
                qmp.execute("migrate", Map.of("uri", "file:" + device));
                qmp.awaitMigrated();
                return;
            } catch (IOException e) {
                boolean busy = String.valueOf(e.getMessage()).contains("not finalized");
                if (!busy || System.nanoTime() > deadline) {
                    throw e;
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }

    @Override
    public void close() throws IOException {
        Gate held = waits;
        if (held != null) {
            held.close();
        }
        channel.close();
        qmp.close();
        process.destroyForcibly();
        process.onExit().completeOnTimeout(process, END_SECONDS_MAX, TimeUnit.SECONDS).join();
        if (process.isAlive()) {
            throw new IOException("QEMU did not end");
        }
        start.remove(place);
    }
}
