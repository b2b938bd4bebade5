package dev.space.privileged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The refusals of every field, by name. */
class RequestTest {

    private static final VmDirectory DIRECTORY =
            new VmDirectory("main", VmDirectory.Area.SESSIONS, "ses_abc");
    private static final String DIGEST = "0".repeat(64);
    private static final List<String> ARGUMENTS = List.of("-M", "microvm");

    private static Request.StartVmm start(
            int slot, long id, String digest, int mem, int cpu, int tasks, List<String> argv) {
        return new Request.StartVmm(slot, id, DIRECTORY, digest, mem, cpu, tasks, argv);
    }

    private static void refused(Runnable make, String field) {
        assertThatThrownBy(make::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(field);
    }

    @Test
    void slotsAreBounded() {
        refused(() -> new Request.EnsureSlot(-1), "slot");
        refused(() -> new Request.KillVmm(PrivilegedLimits.SLOTS_MAX), "slot");
        refused(() -> new Request.FreezeSlot(Integer.MIN_VALUE), "slot");
        refused(() -> new Request.ThawSlot(-1), "slot");
        refused(() -> new Request.ReleaseSlot(-1), "slot");
        refused(() -> new Request.ReadExit(-1, 1), "slot");
        refused(() -> new Request.ReadExit(1, 0), "startId");
    }

    @Test
    void startFieldsAreBounded() {
        refused(() -> start(-1, 1, DIGEST, 512, 100, 64, ARGUMENTS), "slot");
        refused(() -> start(1, 0, DIGEST, 512, 100, 64, ARGUMENTS), "startId");
        refused(() -> start(1, 1, "../" + DIGEST, 512, 100, 64, ARGUMENTS), "bundleDigest");
        refused(() -> start(1, 1, DIGEST + "\n", 512, 100, 64, ARGUMENTS), "bundleDigest");
        refused(() -> start(1, 1, DIGEST, 1, 100, 64, ARGUMENTS), "memoryMiB");
        refused(() -> start(1, 1, DIGEST, 512, 0, 64, ARGUMENTS), "cpuPercent");
        refused(() -> start(1, 1, DIGEST, 512, 100, 100_000, ARGUMENTS), "tasks");
        refused(() -> start(1, 1, DIGEST, 512, 100, 64, List.of()), "arguments");
        refused(() -> start(1, 1, DIGEST, 512, 100, 64, List.of("a\0b")), "NUL");
        refused(
                () -> start(1, 1, DIGEST, 512, 100, 64, Collections.nCopies(257, "x")),
                "arguments");
        refused(
                () -> start(1, 1, DIGEST, 512, 100, 64, List.of("x".repeat(70_000))),
                "bytes of arguments");
    }

    @Test
    void directoriesCannotLeadElsewhere() {
        VmDirectory.Area area = VmDirectory.Area.SESSIONS;
        for (String bad : List.of("", ".", "..", "a/b", "../x", "a.b", "A", "a\0", "-a", "a\n")) {
            refused(() -> new VmDirectory("main", area, bad), "name");
            refused(() -> new VmDirectory(bad, area, "ses_abc"), "volume");
        }
        assertThat(DIRECTORY.relativePath()).isEqualTo("volumes/main/sessions/ses_abc/live");
    }
}
