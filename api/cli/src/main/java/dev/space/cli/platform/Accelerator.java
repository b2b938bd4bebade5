package dev.space.cli.platform;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What executes the guests' instructions on this machine. /dev/kvm may exist, be openable and still
 * never run a guest, so a kernel is booted, once for each boot of the machine; the answer is kept
 * in the cache directory, which all platforms of the machine share.
 */
public final class Accelerator {

    public static final String TCG = "tcg";
    public static final String KVM = "kvm";
    public static final String AUTO = "auto";

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final String FILE = "accelerator.json";

    /** Tries one accelerator; empty when a kernel booted under it. */
    @FunctionalInterface
    interface Trial {
        Optional<String> whyNot(String accelerator);
    }

    /** Whether KVM runs guests here, and what was seen. */
    public record Answer(boolean usable, String why) {}

    /** The answer of one boot of the machine. */
    record Kept(String bootId, boolean usable, String why) {}

    /** What a node is told. */
    public record Choice(String name, String why) {}

    private final Path cache;
    private final Path device;
    private final String bootId;
    private final Optional<Trial> trial;

    public Accelerator(Platform platform) {
        this(
                platform.cache(),
                Path.of("/dev/kvm"),
                bootId(),
                KernelBoot.of(platform.cache())
                        .map(boot -> name -> boot.whyNot(name, KernelBoot.BOOT_MAX)));
    }

    Accelerator(Path cache, Path device, String bootId, Optional<Trial> trial) {
        this.cache = cache;
        this.device = device;
        this.bootId = bootId;
        this.trial = trial;
    }

    private static String bootId() {
        try {
            return Files.readString(BOOT_ID).strip();
        } catch (IOException e) {
            throw new PlatformException("cannot read " + BOOT_ID, e);
        }
    }

    /** What {@code auto}, {@code tcg} or {@code kvm} comes to here. */
    public Choice choose(String configured) {
        if (configured.equals(TCG)) {
            return new Choice(TCG, "as configured");
        }
        Answer kvm = known();
        if (kvm.usable()) {
            return new Choice(KVM, kvm.why());
        }
        if (configured.equals(KVM)) {
            throw new PlatformException(
                    "space.node.accelerator is kvm, but this machine runs no guest under it: "
                            + kvm.why()
                            + ". Set it to auto or tcg (emulation), or mend KVM and let"
                            + " `./space doctor` try again");
        }
        return new Choice(TCG, kvm.why());
    }

    /** From this boot of the machine, else tried now. */
    Answer known() {
        Optional<Answer> seen = openable();
        return seen.orElseGet(() ->
                Json.read(cache.resolve(FILE), Kept.class)
                        .filter(kept -> bootId.equals(kept.bootId()))
                        .map(kept -> new Answer(kept.usable(), kept.why()))
                        .orElseGet(this::boot));
    }

    /** Tried now, whatever was seen before. */
    public Answer tryNow() {
        return openable().orElseGet(this::boot);
    }

    /** Without the device there is nothing to try; this is looked at every time. */
    private Optional<Answer> openable() {
        if (!Files.exists(device)) {
            return Optional.of(new Answer(false, "there is no " + device));
        }
        return Files.isReadable(device) && Files.isWritable(device)
                ? Optional.empty()
                : Optional.of(new Answer(false, device + " cannot be opened by this user"));
    }

    private Answer boot() {
        if (trial.isEmpty()) {
            return new Answer(false, "not tried: no engine bundle is built yet");
        }
        Answer answer =
                trial.get()
                        .whyNot(KVM)
                        .map(why ->
                                new Answer(
                                        false,
                                        device + " is there but no kernel boots under it, " + why))
                        .orElseGet(() -> new Answer(true, "a kernel booted under it"));
        if (Files.isWritable(cache)) {
            Json.write(cache.resolve(FILE), new Kept(bootId, answer.usable(), answer.why()));
        }
        return answer;
    }
}
