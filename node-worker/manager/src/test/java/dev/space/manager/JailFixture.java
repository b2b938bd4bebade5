package dev.space.manager;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.RandomAccessFile;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A whole node-manager for tests: its own instance tag, data directory and cache entry, a manager
 * process and a client process of the worker's uid.
 */
final class JailFixture {

    static final int WORKER = 64_990;
    static final int UID_BASE = 64_100;
    static final int SLOTS = 4;
    private static final String ACCELERATOR = "space.node.accelerator=";

    private static final String FILE_BACKED = "memory-backend-file,mem-path=/vm/ram,share=on";

    final Path base;
    final String instance;
    final String bundle;
    final Path rootfs;
    private final Path jail;
    private Process manager;
    private Process client;
    private Writer toClient = Writer.nullWriter();
    private BufferedReader fromClient = new BufferedReader(java.io.Reader.nullReader());

    JailFixture(Path base, String instance, Path cache) throws Exception {
        this.base = base;
        this.instance = instance;
        Path repository = Path.of("../..").toRealPath();
        this.jail = cargo(repository.resolve("node-worker/jail"), "space-jail");
        Path daemon = cargo(repository.resolve("guest/daemon"), "space-daemon");
        String digest =
                run(
                                Duration.ofMinutes(10),
                                repository.resolve("guest/templates/build").toString(),
                                "minimal",
                                "--cache",
                                cache.toString(),
                                "--daemon",
                                daemon.toString())
                        .strip();
        Path template = cache.resolve("templates").resolve(digest);
        String json = Files.readString(template.resolve("template.json"));
        this.bundle = json.replaceAll("(?s).*\"bundle\": \"([0-9a-f]{64})\".*", "$1");
        this.rootfs = template.resolve("rootfs.ext4");
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx--x--x"));
        Files.createDirectories(base.resolve("node/volumes/main/sessions"));
        Files.writeString(
                base.resolve("manager.properties"),
                String.join(
                        "\n",
                        "space.manager.instance=" + instance,
                        "space.node.slots=" + SLOTS,
                        "space.node.slot-uid-base=" + UID_BASE,
                        "space.node.data-dir=" + base.resolve("node"),
                        "space.node.cache-dir=" + cache,
                        "space.node.manager-socket=" + socket(),
                        "space.manager.exits-dir=" + base.resolve("exits"),
                        "space.manager.jail=" + jail,
                        ACCELERATOR + "tcg",
                        "space.manager.worker-user=" + WORKER));
        manager = startManager();
        client = startClient();
    }

    Path socket() {
        return base.resolve("run/manager.sock");
    }

    private static Path cargo(Path crate, String name) throws Exception {
        Path binary = crate.resolve("target/x86_64-unknown-linux-musl/release").resolve(name);
        if (!Files.exists(binary)) {
            run(
                    Duration.ofMinutes(10),
                    "cargo",
                    "build",
                    "--quiet",
                    "--release",
                    "--target",
                    "x86_64-unknown-linux-musl",
                    "--manifest-path",
                    crate.resolve("Cargo.toml").toString());
        }
        return binary;
    }

    /** Replaces the manager, the old one killed with no chance to say good-bye. */
    void restartManager() throws Exception {
        manager.destroyForcibly().waitFor();
        manager = startManager();
    }

    /** Whether VMMs started from now on get the machine's device. */
    void accelerator(String name) throws Exception {
        Path config = base.resolve("manager.properties");
        String text = Files.readString(config);
        Files.writeString(config, text.replaceAll(ACCELERATOR + "\\w+", ACCELERATOR + name));
        restartManager();
    }

    private Process startManager() throws Exception {
        Files.deleteIfExists(socket());
        Process process =
                new ProcessBuilder(
                                java(),
                                "-XX:+UseSerialGC",
                                "-Xmx48m",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                "dev.space.manager.Main",
                                "--config",
                                base.resolve("manager.properties").toString())
                        .inheritIO()
                        .start();
        boolean up =
                CgroupFiles.await(
                        Duration.ofSeconds(20),
                        () ->
                                Files.exists(socket())
                                        && (int) Files.getAttribute(socket(), "unix:uid")
                                                == WORKER);
        if (!up) {
            throw new IllegalStateException("node-manager did not come up");
        }
        return process;
    }

    /** The class path is copied, for the worker's uid may not be able to read the repository. */
    private Process startClient() throws Exception {
        Path copy = base.resolve("classes");
        List<String> entries = new ArrayList<>();
        int number = 0;
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (entry.contains("privileged-api")
                    || entry.contains("nativeabi")
                    || entry.contains("test-classes")) {
                Path target = copy.resolve(String.valueOf(number++));
                Files.createDirectories(copy);
                run(Duration.ofSeconds(30), "cp", "-r", entry, target.toString());
                entries.add(target.toString());
            }
        }
        run(Duration.ofSeconds(30), "chmod", "-R", "a+rX", copy.toString());
        Process process =
                new ProcessBuilder(
                                "setpriv",
                                "--reuid=" + WORKER,
                                "--regid=" + WORKER,
                                "--clear-groups",
                                java(),
                                "-XX:+UseSerialGC",
                                "-Xmx48m",
                                "-cp",
                                String.join(File.pathSeparator, entries),
                                "dev.space.manager.ClientProbe",
                                socket().toString())
                        .directory(new File("/"))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        toClient =
                new BufferedWriter(
                        new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        fromClient =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        return process;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** One request as the worker. */
    String ask(Object... words) throws IOException {
        toClient.write(String.join("\t", Stream.of(words).map(Object::toString).toList()));
        toClient.write('\n');
        toClient.flush();
        String answer = fromClient.readLine();
        if (answer == null) {
            throw new IOException("the client ended");
        }
        return answer;
    }

    /** node-worker's part: the files of one VM. */
    Path makeLive(String session, int slot) throws Exception {
        Path live = base.resolve("node/volumes/main/sessions").resolve(session).resolve("live");
        Files.createDirectories(live);
        run(
                Duration.ofSeconds(60),
                "cp",
                "--sparse=always",
                "--reflink=auto",
                rootfs.toString(),
                live.resolve("disk").toString());
        for (String name : List.of("ram", "device", "console")) {
            Files.deleteIfExists(live.resolve(name));
            Files.createFile(live.resolve(name));
        }
        try (RandomAccessFile ram = new RandomAccessFile(live.resolve("ram").toFile(), "rw")) {
            ram.setLength(256L << 20);
        }
        for (String name : List.of("disk", "ram", "device", "console")) {
            own(live.resolve(name), UID_BASE + slot, "rw-rw----");
        }
        own(live, WORKER, "rwx--x---");
        return live;
    }

    static void own(Path file, int gid, String mode) throws IOException {
        Files.setAttribute(file, "unix:uid", WORKER);
        Files.setAttribute(file, "unix:gid", gid);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    /** Starts a guest as node-worker would. */
    String start(int slot, long startId, String session) throws IOException {
        return start(slot, startId, session, 768);
    }

    String start(int slot, long startId, String session, int memoryMiB) throws IOException {
        return start(slot, startId, session, memoryMiB, FILE_BACKED);
    }

    /** With memory of this kind; what is no file's counts as the VMM's own and can run out. */
    String start(int slot, long startId, String session, int memoryMiB, String backend)
            throws IOException {
        List<Object> words =
                new ArrayList<>(List.of("start", slot, startId, session, bundle, memoryMiB));
        long khz = hostKhz();
        String arguments =
                "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
                        + " -name vm -L /usr/share/qemu -M microvm,memory-backend=ram0,pit=off,pic=off"
                        + " -accel tcg,thread=multi,tb-size=64 -cpu max -smp 1 -m 256"
                        + " -object "
                        + backend
                        + ",id=ram0,size=256M"
                        + " -nodefaults -no-user-config -display none -no-reboot"
                        + " -chardev socket,id=mon,server=on,wait=off,fd=3"
                        + " -mon chardev=mon,mode=control"
                        + " -chardev file,id=ser,path=/vm/console -serial chardev:ser"
                        + " -global virtio-mmio.force-legacy=false"
                        + " -device virtio-serial-device,id=vs"
                        + " -chardev socket,id=c0,server=on,wait=off,fd=4"
                        + " -device virtserialport,bus=vs.0,chardev=c0,name=space.0"
                        + " -blockdev driver=file,node-name=f0,filename=/vm/disk,discard=unmap,"
                        + "locking=off,aio=threads"
                        + " -blockdev driver=raw,node-name=d0,file=f0,discard=unmap"
                        + " -device virtio-blk-device,drive=d0"
                        + " -object rng-random,id=rng0,filename=/dev/urandom"
                        + " -device virtio-rng-device,rng=rng0"
                        + " -netdev tap,id=n0,ifname=tap0,script=no,downscript=no"
                        + " -device virtio-net-device,netdev=n0,mac=02:fc:00:00:00:02"
                        + " -kernel /boot/vmlinux -initrd /boot/initrd";
        words.addAll(List.of(arguments.split(" ", -1)));
        words.add("-append");
        words.add("console=ttyS0 panic=-1 loglevel=7 tsc=reliable tsc_early_khz=" + khz);
        return ask(words.toArray());
    }

    private static long hostKhz() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
            if (line.startsWith("cpu MHz")) {
                return Math.round(Double.parseDouble(line.substring(line.indexOf(':') + 1)) * 1000);
            }
        }
        return 2_000_000;
    }

    static String run(Duration timeout, String... command) throws Exception {
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)
                || process.exitValue() != 0) {
            throw new IllegalStateException(String.join(" ", command) + " failed: " + output);
        }
        return output;
    }

    void stop() throws Exception {
        client.destroyForcibly().waitFor();
        manager.destroyForcibly().waitFor();
        sweep(instance);
    }

    static void sweep(String instance) throws IOException {
        Cgroups cgroups = Cgroups.detect(Path.of("/sys/fs/cgroup"), instance);
        new Sweep(cgroups, instance, Path.of("/run/netns"))
                .run(true)
                .forEach(l -> System.out.println("sweep: " + l));
    }
}
