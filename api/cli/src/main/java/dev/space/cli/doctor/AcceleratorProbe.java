package dev.space.cli.doctor;

import dev.space.cli.platform.Command;
import dev.space.cli.platform.Platform;
import dev.space.cli.platform.PlatformException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Boots a kernel under hardware acceleration, because /dev/kvm may exist, be openable and still
 * never run a guest. Bounded; the kernel has no root file system and so ends by itself with a
 * panic, which is all the proof that is needed.
 */
final class AcceleratorProbe {

    private static final Duration BOOT_MAX = Duration.ofSeconds(20);
    private static final String BOOTED = "Linux version";

    private final Platform platform;

    AcceleratorProbe(Platform platform) {
        this.platform = platform;
    }

    Finding look() {
        if (!Doctor.onPath("qemu-system-x86_64")) {
            return Finding.note("not tried: QEMU is missing", "");
        }
        Optional<Path> kernel = kernel();
        if (kernel.isEmpty()) {
            return Finding.note("not tried: no guest kernel built yet", "./space up, then again");
        }
        if (!Files.exists(Path.of("/dev/kvm"))) {
            return emulated("no /dev/kvm");
        }
        return boots("kvm", kernel.get())
                ? Finding.ok("KVM: a kernel booted under it")
                : emulated("/dev/kvm is there but no kernel boots under it");
    }

    private static Finding emulated(String why) {
        return Finding.note(
                why + ": guests run by emulation (TCG), correct but several times slower",
                "use a machine with (nested) virtualisation");
    }

    private static boolean boots(String accelerator, Path kernel) {
        List<String> argv =
                List.of(
                        "timeout",
                        "-s",
                        "KILL",
                        Long.toString(BOOT_MAX.toSeconds()),
                        "qemu-system-x86_64",
                        "-M",
                        "microvm",
                        "-accel",
                        accelerator,
                        "-m",
                        "256",
                        "-nodefaults",
                        "-no-user-config",
                        "-display",
                        "none",
                        "-no-reboot",
                        "-serial",
                        "stdio",
                        "-kernel",
                        kernel.toString(),
                        "-append",
                        "console=ttyS0 panic=-1");
        try {
            return Command.run(BOOT_MAX.plusSeconds(5), argv).output().contains(BOOTED);
        } catch (PlatformException e) {
            return false;
        }
    }

    private Optional<Path> kernel() {
        Path bundles = platform.cache().resolve("bundles");
        if (!Files.isDirectory(bundles)) {
            return Optional.empty();
        }
        try (Stream<Path> all = Files.list(bundles)) {
            return all.map(b -> b.resolve("boot/vmlinux")).filter(Files::exists).findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
