package dev.space.guest.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A microVM under QEMU's emulation with the flags that nodes use, without jail and network. */
final class TestMachine implements AutoCloseable {

    private final Path directory;
    private final Process process;
    private final SocketChannel monitor;
    private final BufferedReader answers;
    final SocketChannel agent;

    /** Starts QEMU on the directory's ram, disk, vmlinux, initrd and the bundle's firmware. */
    static TestMachine start(Path directory, boolean incoming)
            throws IOException, InterruptedException {
        var log = directory.resolve("qemu.log").toFile();
        var command = command(directory, incoming);
        var process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
        return new TestMachine(directory, process.start());
    }

    private TestMachine(Path directory, Process process) throws IOException, InterruptedException {
        this.directory = directory;
        this.process = process;
        this.monitor = connect("qmp");
        // Connected before anything is loaded: a port with output pending stays stuck otherwise.
        this.agent = connect("agent");
        this.answers = new BufferedReader(Channels.newReader(monitor, UTF_8));
        var _ = answers.readLine();
        execute("{'execute':'qmp_capabilities'}");
        execute(
                "{'execute':'migrate-set-capabilities','arguments':{'capabilities':["
                        + "{'capability':'x-ignore-shared','state':true},"
                        + "{'capability':'events','state':true}]}}");
    }

    private static List<String> command(Path directory, boolean incoming) throws IOException {
        var khz =
                Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                        .filter(line -> line.startsWith("cpu MHz"))
                        .map(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
                        .mapToLong(mhz -> Math.round(mhz * 1000))
                        .findFirst()
                        .orElse(2_000_000);
        var flags =
                """
                qemu-system-x86_64 -M microvm,memory-backend=ram0,pit=off,pic=off
                -accel tcg,thread=multi,tb-size=128 -cpu max -smp 1 -m 256
                -object memory-backend-file,id=ram0,size=256M,mem-path=DIR/ram,share=on
                -nodefaults -no-user-config -display none -no-reboot -L DIR/firmware
                -chardev file,id=ser,path=DIR/console -serial chardev:ser
                -qmp unix:DIR/qmp,server=on,wait=off -global virtio-mmio.force-legacy=false
                -device virtio-serial-device,id=vs
                -chardev socket,id=c0,path=DIR/agent,server=on,wait=off
                -device virtserialport,bus=vs.0,chardev=c0,name=space.0
                -blockdev driver=file,node-name=f0,filename=DIR/disk,discard=unmap,locking=off
                -blockdev driver=raw,node-name=d0,file=f0,discard=unmap
                -device virtio-blk-device,drive=d0
                -object rng-random,id=rng0,filename=/dev/urandom
                -device virtio-rng-device,rng=rng0
                -netdev user,id=n0,restrict=on -device virtio-net-device,netdev=n0
                -kernel DIR/vmlinux -initrd DIR/initrd
                """;
        var all =
                new ArrayList<>(List.of(flags.replace("DIR", directory.toString()).split("\\s+")));
        all.add("-append");
        all.add("console=ttyS0 panic=-1 quiet tsc=reliable tsc_early_khz=" + khz);
        if (incoming) {
            all.addAll(List.of("-incoming", "defer", "-S"));
        }
        return all;
    }

    private SocketChannel connect(String name) throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (true) {
            var socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                socket.connect(UnixDomainSocketAddress.of(directory.resolve(name)));
                return socket;
            } catch (IOException e) {
                socket.close();
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IOException(Files.readString(directory.resolve("qemu.log")), e);
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** A further connection of the agent, once the one before was closed. */
    SocketChannel connectAgent() throws IOException, InterruptedException {
        return connect("agent");
    }

    /** The exit code of QEMU, which ends by itself. */
    int awaitEnd(Duration wait) throws InterruptedException {
        if (!process.waitFor(wait.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("QEMU did not end in " + wait);
        }
        return process.exitValue();
    }

    /** One QMP command; waits for its answer. */
    void execute(String command) throws IOException {
        monitor.write(ByteBuffer.wrap(command.replace('\'', '"').getBytes(UTF_8)));
        awaitLine("\"return\"");
    }

    private void awaitLine(String part) throws IOException {
        for (var line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.contains("\"error\"") || line.contains("\"failed\"")) {
                throw new IOException(line);
            }
            if (line.contains(part)) {
                return;
            }
        }
        throw new IOException("QEMU ended: " + Files.readString(directory.resolve("qemu.log")));
    }

    /** Saves or loads the device state; the memory is in its own file. */
    void migrate(String command, Path state) throws IOException {
        var line = "{'execute':'" + command + "','arguments':{'uri':'file:" + state + "'}}";
        monitor.write(ByteBuffer.wrap(line.replace('\'', '"').getBytes(UTF_8)));
        awaitLine("\"completed\"");
    }

    String console() throws IOException {
        return Files.readString(directory.resolve("console"), UTF_8);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        monitor.close();
        agent.close();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
