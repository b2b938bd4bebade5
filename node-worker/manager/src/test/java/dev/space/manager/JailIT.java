package dev.space.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.privileged.PrivilegedClient;
import dev.space.privileged.PrivilegedException;
import dev.space.privileged.PrivilegedLimits;
import dev.space.privileged.RefusalCode;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Slots and jailed VMMs for real: needs root, QEMU, mmdebstrap, nft, cargo and cgroup v1 or v2. */
class JailIT {

    private static final String INSTANCE = "jailit";

    @TempDir(cleanup = CleanupMode.ALWAYS)
    private static Path base = Path.of("/");

    private static JailFixture fixture;

    @BeforeAll
    static void start() throws Exception {
        boolean root = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        String missing =
                Stream.of("qemu-system-x86_64", "mmdebstrap", "nft", "ip", "setpriv", "perl")
                        .filter(tool ->
                                Stream.of("/usr/bin", "/usr/sbin", "/bin", "/sbin")
                                        .noneMatch(d -> Files.exists(Path.of(d, tool))))
                        .toList()
                        .toString();
        if (!root || !missing.equals("[]")) {
            System.out.println("JailIT: not run here: root " + root + ", missing " + missing);
        }
        assumeTrue(root && missing.equals("[]"), "needs root and " + missing);
        String cache = System.getenv().getOrDefault("SPACE_TEST_CACHE", "/var/cache/space");
        JailFixture.sweep(INSTANCE);
        fixture = new JailFixture(base, INSTANCE, Path.of(cache));
    }

    @AfterAll
    static void stop() throws Exception {
        if (fixture != null) {
            fixture.stop();
        }
    }

    @AfterEach
    void clear() throws Exception {
        for (int slot = 0; slot < JailFixture.SLOTS; slot++) {
            assertThat(fixture.ask("kill", slot)).isEqualTo("done");
            assertThat(fixture.ask("release", slot)).isEqualTo("done");
        }
        assertThat(fixture.ask("describe")).isEqualTo("slots []");
    }

    @Test
    void aSlotIsMadeTwiceAndReleasedWithoutTrace() throws Exception {
        List<String> before = traces();
        assertThat(before).isEmpty();
        assertThat(fixture.ask("ensure", 1)).isEqualTo("uid " + (JailFixture.UID_BASE + 1));
        assertThat(fixture.ask("ensure", 1)).isEqualTo("uid " + (JailFixture.UID_BASE + 1));
        assertThat(traces()).contains("netns space-jailit-1", "cgroup memory/slot-1");
        assertThat(fixture.ask("describe")).startsWith("slots [1:false:false:0:0:");
        assertThat(fixture.ask("release", 1)).isEqualTo("done");
        assertThat(fixture.ask("release", 1)).isEqualTo("done");
        assertThat(traces()).isEmpty();
    }

    @Test
    void aGuestBootsInTheJail() throws Exception {
        Path live = boot(0, 11, "ses_boot");
        int pid = runningPid();
        // Its filter of system calls is there once it answers.
        assertThat(greeting(live.resolve("qmp.sock"))).contains("\"QMP\"");
        checkIdentity(pid);
        checkCpu(pid);
        checkView(pid);
        for (String name : List.of("qmp.sock", "agent.sock")) {
            Path socket = live.resolve(name);
            assertThat((int) Files.getAttribute(socket, "unix:uid")).isEqualTo(JailFixture.WORKER);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                    .isEqualTo("rw-------");
        }
        try (SocketChannel agent = connect(live.resolve("agent.sock"))) {
            assertThat(agent.isConnected()).isTrue();
        }
        await("the kernel starts the daemon", () -> console(live).contains("space-daemon: ready"));
        assertThat(fixture.ask("ensure", 0)).startsWith("uid");
        assertThat(fixture.start(0, 12, "ses_boot")).startsWith("refused SLOT_BUSY");
        assertThat(fixture.ask("release", 0)).startsWith("refused SLOT_BUSY");
        assertThat(fixture.ask("exit", 0, 11)).startsWith("exit RUNNING 0 0");
        assertThat(fixture.ask("kill", 0)).isEqualTo("done");
        assertThat(fixture.ask("exit", 0, 11)).startsWith("exit SIGNALED 9 0");
        assertThat(Files.exists(Path.of("/proc/" + pid + "/exe"))).isFalse();
    }

    @Test
    void theKvmDeviceIsTheSlotsAloneAndOnlyWhereItWasAskedFor() throws Exception {
        Path kvm = Path.of("/dev/kvm");
        if (!Files.exists(kvm)) {
            System.out.println("JailIT: no /dev/kvm in the jail here: the machine has none");
        }
        assumeTrue(Files.exists(kvm), "needs /dev/kvm");
        String ofMachine = JailFixture.run(Duration.ofSeconds(10), "stat", "-c%a %g", "/dev/kvm");
        fixture.accelerator("kvm");
        try {
            boot(1, 31, "ses_kvm");
            Path dev = Path.of("/proc/" + runningPid() + "/root/dev");
            assertThat(names(dev)).containsExactly("kvm", "net", "null", "urandom", "zero");
            Path inJail = dev.resolve("kvm");
            assertThat(Files.getAttribute(inJail, "unix:uid")).isEqualTo(0);
            assertThat(Files.getAttribute(inJail, "unix:gid")).isEqualTo(JailFixture.UID_BASE + 1);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(inJail)))
                    .isEqualTo("rw-rw----");
            assertThat(Files.getAttribute(inJail, "unix:rdev"))
                    .isEqualTo(Files.getAttribute(kvm, "unix:rdev"));
            assertThat(JailFixture.run(Duration.ofSeconds(10), "stat", "-c%a %g", "/dev/kvm"))
                    .isEqualTo(ofMachine);
        } finally {
            assertThat(fixture.ask("kill", 1)).isEqualTo("done");
            fixture.accelerator("tcg");
        }
    }

    @Test
    void aKilledManagerHarmsNoVmmAndTheNextOneAdoptsIt() throws Exception {
        Path live = boot(2, 5, "ses_adopt");
        int pid = runningPid();
        fixture.restartManager();
        assertThat(runningPid()).isEqualTo(pid);
        assertThat(fixture.ask("describe"))
                .isEqualTo("slots [2:true:false:" + pid + ":5:ses_adopt:true]");
        assertThat(fixture.start(2, 5, "ses_adopt")).isEqualTo("pid " + pid);
        assertThat(greeting(live.resolve("qmp.sock"))).contains("\"QMP\"");
        assertThat(fixture.ask("freeze", 2)).isEqualTo("done");
        assertThat(fixture.ask("describe")).contains("2:true:true:");
        assertThat(fixture.ask("thaw", 2)).isEqualTo("done");
        assertThat(fixture.ask("freeze", 2)).isEqualTo("done");
        assertThat(fixture.ask("kill", 2)).isEqualTo("done");
        assertThat(fixture.ask("exit", 2, 5)).startsWith("exit SIGNALED 9 0");
        assertThat(fixture.start(2, 5, "ses_adopt")).startsWith("refused INVALID");
    }

    @Test
    void aVmmThatRunsOutOfMemoryIsCountedAsThat() throws Exception {
        assertThat(fixture.ask("ensure", 3)).startsWith("uid");
        var _ = fixture.makeLive("ses_oom", 3);
        String anonymous = "memory-backend-ram,prealloc=on";
        String started =
                fixture.start(3, 21, "ses_oom", PrivilegedLimits.MEMORY_MIB_MIN, anonymous);
        // It may be dead before its start is answered.
        assertThat(started).containsAnyOf("pid ", "refused");
        await("the kernel kills it", () -> !fixture.ask("exit", 3, 21).startsWith("exit RUNNING"));
        assertThat(fixture.ask("exit", 3, 21)).matches("exit SIGNALED 9 [1-9].*");
    }

    @Test
    void aVmmThatCannotStartSaysWhy() throws Exception {
        assertThat(fixture.ask("ensure", 0)).startsWith("uid");
        fixture.makeLive("ses_bad", 0);
        String pid = fixture.ask("start", 0, 3, "ses_bad", fixture.bundle, 768, "-nonsense");
        assertThat(pid).startsWith("pid ");
        await("the end", () -> !fixture.ask("exit", 0, 3).startsWith("exit RUNNING"));
        assertThat(fixture.ask("exit", 0, 3)).startsWith("exit EXITED 1 0").contains("nonsense");
        assertThat(fixture.ask("exit", 0, 4)).startsWith("refused NO_SUCH_START");
        assertThat(fixture.ask("start", 0, 6, "ses_bad", "0".repeat(64), 768, "-x"))
                .startsWith("refused NO_BUNDLE");
        assertThat(fixture.ask("start", 3, 6, "ses_bad", fixture.bundle, 768, "-x"))
                .startsWith("refused NO_SLOT");
        assertThat(fixture.ask("ensure", 40)).startsWith("refused INVALID");
        assertThat(fixture.ask("freeze", 0)).startsWith("refused NO_SLOT");
    }

    @Test
    void filesThatAreNotTheVmsOwnAreNotBound() throws Exception {
        assertThat(fixture.ask("ensure", 0)).startsWith("uid");
        Path victim = fixture.makeLive("ses_victim", 1).resolve("disk");
        Path live = fixture.makeLive("ses_thief", 0);
        Path disk = live.resolve("disk");
        Files.delete(disk);
        assertThat(fixture.start(0, 1, "ses_thief")).startsWith("refused BAD_FILES");
        Files.createSymbolicLink(disk, victim);
        assertThat(fixture.start(0, 2, "ses_thief")).startsWith("refused BAD_FILES");
        Files.delete(disk);
        Files.createLink(disk, victim);
        assertThat(fixture.start(0, 3, "ses_thief")).startsWith("refused BAD_FILES");
        Files.delete(disk);
        Files.createDirectory(disk);
        JailFixture.own(disk, JailFixture.UID_BASE, "rwxrwx---");
        assertThat(fixture.start(0, 4, "ses_thief")).startsWith("refused BAD_FILES");
        Files.delete(disk);
        Files.createFile(disk);
        JailFixture.own(disk, JailFixture.UID_BASE + 1, "rw-rw----");
        assertThat(fixture.start(0, 5, "ses_thief")).startsWith("refused BAD_FILES");
        Path sessions = base.resolve("node/volumes/main/sessions");
        Files.createSymbolicLink(sessions.resolve("ses_link"), sessions.resolve("ses_victim"));
        assertThat(fixture.start(0, 6, "ses_link")).startsWith("refused BAD_FILES");
        assertThat(fixture.ask("describe")).startsWith("slots [0:false:false:0:0:");
    }

    @Test
    void anotherSlotsUserCannotOpenTheFiles() throws Exception {
        Path disk = fixture.makeLive("ses_private", 0).resolve("disk");
        assertThat(read(disk, JailFixture.UID_BASE)).isZero();
        assertThat(read(disk, JailFixture.UID_BASE + 1)).isNotZero();
    }

    /** Opens the file as a uid, past the directories that would stop it as well. */
    private static int read(Path file, int uid) throws Exception {
        Path directory = Files.createDirectories(base.resolve("open-to-all"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path link = directory.resolve("file-" + uid);
        Files.createLink(link, file);
        try {
            return new ProcessBuilder(
                            "setpriv",
                            "--reuid=" + uid,
                            "--regid=" + uid,
                            "--clear-groups",
                            "head",
                            "-c1",
                            link.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } finally {
            Files.delete(link);
        }
    }

    @Test
    void theSweepSparesTheLivingUnlessToldToKill() throws Exception {
        boot(1, 7, "ses_sweep");
        int pid = runningPid();
        Cgroups cgroups = Cgroups.detect(Path.of("/sys/fs/cgroup"), INSTANCE);
        Sweep sweep = new Sweep(cgroups, INSTANCE, Path.of("/run/netns"));
        assertThatThrownBy(() -> sweep.run(false)).hasMessageContaining("are alive");
        assertThat(runningPid()).isEqualTo(pid);
        Cgroups others = Cgroups.detect(Path.of("/sys/fs/cgroup"), "jailother");
        assertThat(new Sweep(others, "jailother", Path.of("/run/netns")).run(true)).isEmpty();
        assertThat(runningPid()).isEqualTo(pid);
        assertThat(sweep.run(true)).anyMatch(l -> l.contains("namespace space-jailit-1"));
        assertThat(fixture.ask("exit", 1, 7)).startsWith("exit SIGNALED 9");
    }

    @Test
    void anotherUserIsNotServed() throws Exception {
        PrivilegedClient asRoot = new PrivilegedClient(fixture.socket(), Duration.ofSeconds(5));
        assertThatThrownBy(() -> asRoot.ensureSlot(0))
                .isInstanceOfSatisfying(
                        PrivilegedException.class,
                        e -> assertThat(e.code()).isEqualTo(RefusalCode.UNREACHABLE));
        assertThat(traces()).isEmpty();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fixture.socket())))
                .isEqualTo("rw-------");
    }

    private Path boot(int slot, long startId, String session) throws Exception {
        assertThat(fixture.ask("ensure", slot)).startsWith("uid");
        Path live = fixture.makeLive(session, slot);
        assertThat(fixture.start(slot, startId, session)).startsWith("pid ");
        return live;
    }

    private static int runningPid() throws IOException {
        String answer = fixture.ask("describe");
        assertThat(answer).matches("slots \\[\\d+:true:.*");
        return Integer.parseInt(answer.split(":", -1)[3]);
    }

    private static void checkIdentity(int pid) throws IOException {
        String status = Files.readString(Path.of("/proc/" + pid + "/status"));
        int uid = JailFixture.UID_BASE;
        assertThat(status)
                .containsPattern("Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid)
                .containsPattern("Gid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid)
                .containsPattern("Groups:\\s*\n")
                .contains("CapInh:\t0000000000000000", "CapPrm:\t0000000000000000")
                .contains("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000")
                .contains("CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2");
        for (String kind : List.of("mnt", "pid", "net", "ipc", "uts", "cgroup")) {
            assertThat(Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/" + kind)))
                    .as(kind)
                    .isNotEqualTo(Files.readSymbolicLink(Path.of("/proc/self/ns/" + kind)));
        }
        assertThat(Files.readAllBytes(Path.of("/proc/" + pid + "/environ"))).isEmpty();
        // Started by the kernel instead, QEMU lies where its guests need an eighth more CPU.
        assertThat(
                        Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe"))
                                .getFileName()
                                .toString())
                .startsWith("ld-linux");
        String limits = Files.readString(Path.of("/proc/" + pid + "/limits"));
        assertThat(limits).containsPattern("Max core file size +0 +0");
        assertThat(limits).containsPattern("Max open files +256 +256");
    }

    /** What the kernel itself says of the VMM's share of the processors. */
    private static void checkCpu(int pid) throws IOException {
        int cpus = Runtime.getRuntime().availableProcessors();
        Path v1 = Path.of("/sys/fs/cgroup/cpu/space");
        boolean isV1 = Files.isDirectory(v1);
        Path all = isV1 ? v1 : Path.of("/sys/fs/cgroup/space");
        Path slot = all.resolve(INSTANCE).resolve("slot-0");
        assertThat(Files.readAllLines(slot.resolve("cgroup.procs")))
                .contains(Integer.toString(pid));
        String weight = isV1 ? "cpu.shares" : "cpu.weight";
        String together = String.valueOf((isV1 ? 1024 : 100) * 2 * cpus);
        assertThat(all.resolve(weight)).hasContent(together);
        assertThat(all.resolve(INSTANCE).resolve(weight)).hasContent(together);
        String max =
                isV1
                        ? Files.readString(slot.resolve("cpu.cfs_quota_us")).strip()
                                + " "
                                + Files.readString(slot.resolve("cpu.cfs_period_us"))
                        : Files.readString(slot.resolve("cpu.max"));
        List<String> part = List.of(max.strip().split(" ", -1));
        assertThat(Long.parseLong(part.getFirst()))
                .as(max)
                .isEqualTo(2 * Long.parseLong(part.getLast()));
    }

    /** What the VMM sees; not even root can make a name there. */
    private static void checkView(int pid) throws IOException {
        Path root = Path.of("/proc/" + pid + "/root");
        assertThat(names(root.resolve("vm"))).containsExactly("console", "device", "disk", "ram");
        assertThat(names(root.resolve("dev"))).containsExactly("net", "null", "urandom", "zero");
        assertThat(names(root)).doesNotContain("etc", "home", "var", "root", "sys");
        assertThat(names(root.resolve("proc"))).isEmpty();
        for (String place : List.of("", "vm", "dev", "tmp", "usr/bin")) {
            assertThatThrownBy(() -> Files.createFile(root.resolve(place).resolve("new")))
                    .as(place)
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("Read-only");
        }
        assertThat(Files.getAttribute(root.resolve("dev/net/tun"), "unix:gid"))
                .isEqualTo(JailFixture.UID_BASE);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(f -> String.valueOf(f.getFileName())).sorted().toList();
        }
    }

    /** Everything of this instance that the machine shows. */
    private static List<String> traces() throws IOException {
        Path netns = Path.of("/run/netns");
        List<String> found = new java.util.ArrayList<>();
        if (Files.exists(netns)) {
            names(netns).stream()
                    .filter(n -> n.startsWith("space-jailit-"))
                    .forEach(n -> found.add("netns " + n));
        }
        Cgroups cgroups = Cgroups.detect(Path.of("/sys/fs/cgroup"), INSTANCE);
        cgroups.names().forEach(n -> found.add("cgroup memory/" + n));
        names(base.resolve("exits")).forEach(n -> found.add("record " + n));
        return found;
    }

    private static SocketChannel connect(Path socket) throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(socket));
    }

    private static String greeting(Path socket) throws IOException {
        try (SocketChannel channel = connect(socket)) {
            ByteBuffer buffer = ByteBuffer.allocate(4096);
            channel.read(buffer);
            return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
        }
    }

    private static String console(Path live) throws IOException {
        return new String(Files.readAllBytes(live.resolve("console")), StandardCharsets.ISO_8859_1);
    }

    private static void await(String what, CgroupFiles.Condition condition) throws IOException {
        assertThat(CgroupFiles.await(Duration.ofMinutes(2), condition)).as(what).isTrue();
    }
}
