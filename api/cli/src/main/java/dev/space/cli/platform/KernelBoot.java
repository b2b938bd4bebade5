package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Boots a guest kernel with an engine bundle's own QEMU, without a disk: it initialises everything,
 * finds no root file system, panics and so ends by itself. Nothing less proves that an accelerator
 * runs guests.
 */
final class KernelBoot {

    /** Under hardware a boot takes about a second; an accelerator that hangs takes all of it. */
    static final Duration BOOT_MAX = Duration.ofSeconds(10);

    /** Without a rate an emulated kernel looks for one for ever; here any will do. */
    private static final int TSC_KHZ = 2_000_000;

    private static final Duration END_MAX = Duration.ofSeconds(5);

    /** Said at the very end, after timers, interrupts and drivers were used. */
    private static final String PROOF = "Unable to mount root fs";

    private final Path bundle;

    private KernelBoot(Path bundle) {
        this.bundle = bundle;
    }

    /** With any bundle of the cache that is complete; nothing when none is built yet. */
    static Optional<KernelBoot> of(Path cache) {
        Path bundles = cache.resolve("bundles");
        if (!Files.isDirectory(bundles)) {
            return Optional.empty();
        }
        try (Stream<Path> all = Files.list(bundles)) {
            return all.filter(b -> Files.exists(b.resolve("bundle.json")))
                    .sorted()
                    .findFirst()
                    .map(KernelBoot::new);
        } catch (IOException e) {
            throw new PlatformException("cannot read " + bundles + ": " + e.getMessage(), e);
        }
    }

    /** Empty when it booted, else what was seen instead. */
    Optional<String> whyNot(String accelerator, Duration max) {
        String output;
        try {
            output = Command.run(max.plus(END_MAX), argv(accelerator, max)).output();
        } catch (PlatformException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
        if (output.contains(PROOF)) {
            return Optional.empty();
        }
        String last = output.lines().reduce("", (_, line) -> line.isBlank() ? "" : line.strip());
        return Optional.of(
                last.isEmpty()
                        ? "it wrote nothing within " + max.toSeconds() + " s"
                        : "it did not get through: " + last);
    }

    private List<String> argv(String accelerator, Duration max) {
        return List.of(
                "timeout",
                "-s",
                "KILL",
                Long.toString(max.toSeconds()),
                bundle.resolve("lib64/ld-linux-x86-64.so.2").toString(),
                "--library-path",
                libraries(),
                bundle.resolve("usr/bin/qemu-system-x86_64").toString(),
                "-L",
                bundle.resolve("usr/share/qemu").toString(),
                "-M",
                "microvm,pit=off,pic=off",
                "-accel",
                accelerator,
                "-cpu",
                "max",
                "-m",
                "128",
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-no-reboot",
                "-serial",
                "stdio",
                "-kernel",
                bundle.resolve("boot/vmlinux").toString(),
                "-append",
                "console=ttyS0 panic=-1 tsc=reliable tsc_early_khz=" + TSC_KHZ);
    }

    private String libraries() {
        try (Stream<Path> files = Files.find(bundle, 8, (p, _) -> p.toString().contains(".so"))) {
            return String.join(
                    ":",
                    files.map(p -> String.valueOf(p.getParent())).distinct().sorted().toList());
        } catch (IOException e) {
            throw new PlatformException("cannot read " + bundle + ": " + e.getMessage(), e);
        }
    }
}
