package dev.space.cli.doctor;

import dev.space.cli.config.ConfigException;
import dev.space.cli.config.ConfigKey;
import dev.space.cli.config.SpaceConfig;
import dev.space.cli.platform.Accelerator;
import dev.space.cli.platform.Command;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import dev.space.cli.platform.VaultAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The checks of {@code space doctor}, in the order of what depends on what. */
public final class Doctor {

    private static final Duration QUICK = Duration.ofSeconds(10);
    private static final int JDK_MIN = 25;
    private static final int QEMU_MIN = 9;
    private static final long GIB = 1L << 30;

    /** Databases, logs and what is built, beside the node's volume, at the first start. */
    private static final long FIRST_START_BYTES = 4 * GIB;

    /** What the host's disk must have left once the node's volume is there. */
    private static final long FREE_LEFT_BYTES = 2 * GIB;

    /** One named look at the machine. */
    public record Check(String name, Supplier<Finding> body) {
        public Finding look() {
            try {
                return body.get();
            } catch (PlatformException e) {
                return Finding.fault(String.valueOf(e.getMessage()), "");
            }
        }
    }

    private final Platform platform;

    public Doctor(Platform platform) {
        this.platform = platform;
    }

    public List<Check> checks() {
        return List.of(
                new Check("root", Doctor::root),
                new Check("jdk", Doctor::jdk),
                new Check("packages", Doctor::packages),
                new Check("qemu", Doctor::qemu),
                new Check("accelerator", this::accelerator),
                new Check("btrfs", Doctor::btrfs),
                new Check("loop", Doctor::loop),
                new Check("tun", Doctor::tun),
                new Check("namespaces", Doctor::namespaces),
                new Check("cgroups", Doctor::cgroups),
                new Check("config", this::config),
                new Check("vault", this::vault),
                new Check("disk", this::disk),
                new Check("files", () -> new FetchedFiles(platform.cache()).look()));
    }

    private static Finding root() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)
                    ? Finding.ok("yes")
                    : Finding.note("not root: `up` and `run` need it", "sudo ./space doctor");
        } catch (IOException e) {
            return Finding.fault("cannot read /proc", "");
        }
    }

    private static Finding jdk() {
        return Runtime.version().feature() >= JDK_MIN
                ? Finding.ok(Runtime.version().toString())
                : Finding.fault(
                        "JDK " + Runtime.version() + " is too old", "sdk install java 25-tem");
    }

    private static Finding packages() {
        List<String> missing =
                List.of(
                                "mmdebstrap",
                                "mkfs.btrfs",
                                "nft",
                                "ip",
                                "mkfs.ext4",
                                "zstd",
                                "lz4",
                                "xz",
                                "kmod",
                                "jq",
                                "busybox",
                                "qemu-img",
                                "useradd",
                                "setpriv",
                                "pgrep")
                        .stream()
                        .filter(tool -> !onPath(tool))
                        .toList();
        return missing.isEmpty()
                ? Finding.ok("all there")
                : Finding.fault(
                        "missing: " + String.join(", ", missing),
                        "./space up (installs them), or apt-get install mmdebstrap btrfs-progs"
                                + " nftables iproute2 e2fsprogs zstd lz4 xz-utils kmod jq"
                                + " busybox-static qemu-utils passwd util-linux procps");
    }

    private static Finding qemu() {
        if (!onPath("qemu-system-x86_64")) {
            return Finding.fault(
                    "qemu-system-x86_64 is missing",
                    "apt-get install -t bookworm-backports qemu-system-x86 qemu-utils");
        }
        String version =
                Command.must(QUICK, "qemu-system-x86_64", "--version")
                        .lines()
                        .findFirst()
                        .orElse("");
        String number = version.replaceAll("^[^0-9]*([0-9]+)\\..*$", "$1");
        boolean good = number.matches("[0-9]+") && Integer.parseInt(number) >= QEMU_MIN;
        return good
                ? Finding.ok(version)
                : Finding.fault(
                        version + " is older than " + QEMU_MIN,
                        "apt-get install -t bookworm-backports qemu-system-x86 qemu-utils");
    }

    /** Tries anew; what it sees is what the next `up` goes by. */
    private Finding accelerator() {
        Accelerator.Answer kvm = new Accelerator(platform).tryNow();
        String configured;
        try {
            configured = SpaceConfig.load(platform.config()).text(ConfigKey.NODE_ACCELERATOR);
        } catch (ConfigException e) {
            configured = ConfigKey.NODE_ACCELERATOR.fallback(); // told by its own check
        }
        String setting = ConfigKey.NODE_ACCELERATOR.key() + " is " + configured;
        if (kvm.usable()) {
            return Finding.ok("kvm: " + kvm.why() + "; " + setting);
        }
        return configured.equals(Accelerator.KVM)
                ? Finding.fault(kvm.why() + "; " + setting, "set it to auto or tcg")
                : Finding.note(
                        kvm.why()
                                + ": guests run by emulation (tcg), correct but several times"
                                + " slower; "
                                + setting,
                        "use a machine with (nested) virtualisation");
    }

    private static Finding btrfs() {
        return contains(Path.of("/proc/filesystems"), "btrfs")
                        || Command.run(QUICK, List.of("modprobe", "-n", "btrfs")).ok()
                ? Finding.ok("the kernel has it")
                : Finding.fault("the kernel has no btrfs", "modprobe btrfs");
    }

    private static Finding loop() {
        return Files.exists(Path.of("/dev/loop-control"))
                ? Finding.ok("/dev/loop-control is there")
                : Finding.fault("no loop devices", "modprobe loop");
    }

    private static Finding tun() {
        return Files.exists(Path.of("/dev/net/tun"))
                ? Finding.ok("/dev/net/tun is there")
                : Finding.fault("/dev/net/tun is missing", "modprobe tun");
    }

    private static Finding namespaces() {
        Command.Result tried =
                Command.run(
                        QUICK, List.of("unshare", "--mount", "--pid", "--net", "--fork", "true"));
        return tried.ok()
                ? Finding.ok("mount, pid and network namespaces can be made")
                : Finding.fault("cannot make namespaces: " + tried.output(), "run as root");
    }

    private static Finding cgroups() {
        Path root = Path.of("/sys/fs/cgroup");
        if (contains(root.resolve("cgroup.controllers"), "memory")) {
            return Finding.ok("v2 with the memory controller");
        }
        if (Files.isDirectory(root.resolve("memory")) && Files.isDirectory(root.resolve("pids"))) {
            return Finding.ok("v1 with memory and pids");
        }
        return Finding.fault(
                "neither cgroup v2 with memory nor v1 with memory and pids",
                "boot with systemd.unified_cgroup_hierarchy=1");
    }

    private Finding config() {
        try {
            var _ = SpaceConfig.load(platform.config());
            return Finding.ok(
                    Files.exists(platform.config())
                            ? platform.config().toString()
                            : "no " + platform.config() + ": defaults");
        } catch (ConfigException e) {
            return Finding.fault(String.valueOf(e.getMessage()), "docs/configuration.md");
        }
    }

    /** Both roles are tried: what they may do is compared with what their processes need. */
    private Finding vault() {
        SpaceConfig config;
        try {
            config = SpaceConfig.load(platform.config());
        } catch (ConfigException e) {
            return Finding.note("not looked at: the configuration cannot be read", "");
        }
        Optional<VaultAccess> access = VaultAccess.of(config);
        if (access.isEmpty()) {
            return Finding.ok("none: secrets are sealed in rows");
        }
        VaultAccess.Outcome found = access.get().look();
        return found.faults().isEmpty()
                ? Finding.ok("both roles may do what they must and nothing more")
                : Finding.fault(String.join("; ", found.faults()), found.mend());
    }

    /** What the first start takes: a volume is made where the data directory is not on btrfs. */
    private long firstStart(Path at) throws IOException {
        if (Files.getFileStore(at).type().equals("btrfs")) {
            return FIRST_START_BYTES;
        }
        try {
            int gib = SpaceConfig.load(platform.config()).number(ConfigKey.NODE_VOLUME_GIB);
            return gib * GIB + FIRST_START_BYTES;
        } catch (ConfigException e) {
            return FIRST_START_BYTES; // told by its own check
        }
    }

    private Finding disk() {
        Path at = platform.data();
        for (Path up = at; up != null && !Files.exists(at); up = up.getParent()) {
            at = up;
        }
        try {
            long free = Files.getFileStore(at).getUsableSpace();
            String text = free / GIB + " GiB free for " + platform.data();
            boolean fresh = !Files.exists(platform.data().resolve("node"));
            long first = firstStart(at);
            if (fresh && free < first) {
                return Finding.fault(
                        text + ", the first start takes up to " + first / GIB,
                        "free some, or set space.node.volume-gib lower");
            }
            return free < FREE_LEFT_BYTES
                    ? Finding.fault(
                            text + ": logs and databases need " + FREE_LEFT_BYTES / GIB,
                            "free some: du -xh --max-depth=2 " + platform.data())
                    : Finding.ok(text);
        } catch (IOException e) {
            return Finding.fault("cannot ask " + at + " for its free space", "");
        }
    }

    private static boolean contains(Path file, String word) {
        try {
            return Files.readString(file).contains(word);
        } catch (IOException e) {
            return false;
        }
    }

    /** On the path of whoever asks, or where root's tools are, which users' paths often lack. */
    static boolean onPath(String tool) {
        String path = System.getenv().getOrDefault("PATH", "") + ":/usr/sbin:/sbin";
        return Arrays.stream(path.split(":", -1))
                .filter(d -> !d.isEmpty())
                .anyMatch(d -> Files.isExecutable(Path.of(d, tool)));
    }
}
