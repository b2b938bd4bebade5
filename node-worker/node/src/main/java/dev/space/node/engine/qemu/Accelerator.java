package dev.space.node.engine.qemu;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who executes the guests' instructions, and what memory made so needs to be loaded again. QEMU's
 * own emulation gives every host the same CPU; KVM gives the host's, so its memory also needs a
 * host with the same one.
 */
public final class Accelerator {

    public static final String TCG = "tcg";
    public static final String KVM = "kvm";

    /** Two threads' worth of what was translated costs 128 MiB at most; less makes node thrash. */
    private static final String TCG_OPTION = "tcg,thread=multi,tb-size=128";

    private static final char MARK = '+';
    private static final int CPU_NAME_BYTES = 8;

    private final String name;
    private final String option;

    /** What stands behind the digest in a bundle's name; nothing for emulation. */
    private final String suffix;

    private Accelerator(String name, String option, String suffix) {
        this.name = name;
        this.option = option;
        this.suffix = suffix;
    }

    public static Accelerator of(String name) {
        return switch (name) {
            case TCG -> emulation();
            case KVM -> kvm(Path.of("/proc/cpuinfo"));
            default ->
                    throw new IllegalArgumentException(
                            "space.node.accelerator is tcg or kvm, not "
                                    + name
                                    + " (`./space up` finds out what auto stands for)");
        };
    }

    static Accelerator emulation() {
        return new Accelerator(TCG, TCG_OPTION, "");
    }

    static Accelerator kvm(Path cpuinfo) {
        return new Accelerator(KVM, KVM, MARK + KVM + "." + cpu(cpuinfo));
    }

    String name() {
        return name;
    }

    /** For QEMU's {@code -accel}. */
    String option() {
        return option;
    }

    /** The name by which snapshots say what their memory needs: bundle, accelerator, CPU. */
    String bundle(String digest) {
        return digest + suffix;
    }

    /** Whether memory that was made on it can be loaded under this accelerator on this host. */
    boolean loads(String bundle) {
        int mark = bundle.indexOf(MARK);
        return (mark < 0 ? "" : bundle.substring(mark)).equals(suffix);
    }

    /** The engine bundle's directory name. */
    static String digest(String bundle) {
        int mark = bundle.indexOf(MARK);
        return mark < 0 ? bundle : bundle.substring(0, mark);
    }

    /** A short name of the host's CPU: two hosts with the same one load each other's memory. */
    private static String cpu(Path cpuinfo) {
        try {
            List<String> traits = new ArrayList<>();
            for (String line : Files.readAllLines(cpuinfo)) {
                int colon = line.indexOf(':');
                String key = colon < 0 ? "" : line.substring(0, colon).strip();
                String value = colon < 0 ? "" : line.substring(colon + 1).strip();
                if (Set.of("vendor_id", "cpu family", "model").contains(key)) {
                    traits.add(key + "=" + value);
                } else if (key.equals("flags")) {
                    traits.addAll(new TreeSet<>(Arrays.asList(value.split(" +", -1))));
                } else if (line.isBlank()) {
                    break; // The other CPUs are the same.
                }
            }
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(String.join("\n", traits).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(Arrays.copyOf(digest, CPU_NAME_BYTES));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + cpuinfo, e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
