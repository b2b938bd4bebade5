package dev.space.bench.floor;

import dev.space.guest.channel.Token;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Restores bare VMs from a start snapshot, with the very command line that the platform uses, taken
 * from a running VMM, but with sockets of its own and outside any jail. Each VM gets a network
 * namespace with a TAP device, made before its time is taken.
 */
public final class ColdStart implements AutoCloseable {

    private static final String VMM = "usr/bin/qemu-system-x86_64";

    private final List<String> vmmArguments;
    private final Path bundle;
    private final Path snapshot;
    private final Token token;
    private final Path directory;
    private final AtomicInteger made = new AtomicInteger();

    /**
     * @param vmmArguments of a VMM of the same template and size, without its executable
     * @param directory on the snapshot's file system, not there yet
     */
    public ColdStart(
            List<String> vmmArguments, Path bundle, Path snapshot, Token token, Path directory)
            throws IOException {
        this.vmmArguments = List.copyOf(vmmArguments);
        this.bundle = bundle;
        this.snapshot = snapshot;
        this.token = token;
        this.directory = directory;
        Files.createDirectory(directory);
    }

    /** The arguments of a running process, without its executable. */
    public static List<String> argumentsOf(long pid) throws IOException {
        byte[] raw = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cmdline"));
        String[] all = new String(raw, StandardCharsets.UTF_8).split("\0", -1);
        // Before them stand the loader and the program.
        return List.of(all).subList(2, all.length - 1);
    }

    /** Room for one VM: directory and network namespace. Not part of what is measured. */
    public Place place() throws IOException {
        String name = "space-bench-" + ProcessHandle.current().pid() + "-" + made.incrementAndGet();
        Path own = Files.createDirectory(directory.resolve(name));
        must("ip", "netns", "add", name);
        must("ip", "-n", name, "tuntap", "add", "dev", "tap0", "mode", "tap", "vnet_hdr");
        return new Place(name, own);
    }

    /** A directory and a network namespace of the same name. */
    public record Place(String name, Path directory) {}

    /** Clones the snapshot, starts QEMU, loads, goes on; the guest has not been asked yet. */
    public BareVm restore(Place place) throws IOException, InterruptedException {
        return BareVm.restore(this, place);
    }

    Path snapshot() {
        return snapshot;
    }

    Token token() {
        return token;
    }

    /** The platform's command line with this VM's own paths and sockets. */
    List<String> command(Place place) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "nsenter",
                                "--net=/run/netns/" + place.name(),
                                bundle.resolve("lib64/ld-linux-x86-64.so.2").toString(),
                                "--library-path",
                                libraries(),
                                bundle.resolve(VMM).toString()));
        for (String argument : vmmArguments) {
            command.add(localised(argument, place.directory()));
        }
        return command;
    }

    private String localised(String argument, Path own) {
        String socket =
                argument.matches(".*\\bfd=3\\b.*")
                        ? argument.replaceAll("\\bfd=3\\b", "path=" + own.resolve("qmp"))
                        : argument.replaceAll("\\bfd=4\\b", "path=" + own.resolve("agent"));
        String files = socket.replace("/vm/", own + "/");
        for (String top : List.of("/boot/", "/usr/share/")) {
            if (files.startsWith(top)) {
                return bundle + files;
            }
        }
        return files;
    }

    private String libraries() throws IOException {
        try (Stream<Path> files = Files.find(bundle, 8, (p, _) -> p.toString().contains(".so"))) {
            return String.join(
                    ":",
                    files.map(p -> String.valueOf(p.getParent())).distinct().sorted().toList());
        }
    }

    void remove(Place place) throws IOException {
        must("ip", "netns", "del", place.name());
        removeTree(place.directory());
    }

    private static void must(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.onExit().join().exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.strip());
        }
    }

    private static void removeTree(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            all.sorted(Comparator.reverseOrder()).forEach(ColdStart::remove);
        }
    }

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        removeTree(directory);
    }
}
