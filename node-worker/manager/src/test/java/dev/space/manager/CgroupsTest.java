package dev.space.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both versions against directories of plain files; v1 for real is in JailIT. */
class CgroupsTest {

    private static final int CPUS = Runtime.getRuntime().availableProcessors();

    @TempDir Path root;

    @BeforeAll
    static void sayWhatIsNotRun() {
        if (!Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"))) {
            System.out.println("CgroupsTest: cgroup v2 is not run here for real, only with fakes");
        }
    }

    private void fake(String path, String content) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private String text(String path) throws IOException {
        return Files.readString(root.resolve(path)).strip();
    }

    private Cgroups versionTwo() throws IOException {
        fake("cgroup.controllers", "cpuset cpu io memory pids\n");
        for (String level : List.of("", "space/", "space/t/")) {
            fake(level + "cgroup.subtree_control", "");
            fake(level + "cpu.weight", "100\n");
        }
        for (String knob : List.of("memory.max", "memory.swap.max", "cpu.max", "pids.max")) {
            fake("space/t/slot-1/" + knob, "max\n");
        }
        fake("space/t/slot-1/cgroup.procs", "41\n42\n0\n");
        fake("space/t/slot-1/memory.current", "1000\n");
        fake("space/t/slot-1/memory.peak", "2000\n");
        fake("space/t/slot-1/cpu.stat", "usage_usec 77\nuser_usec 1\n");
        fake("space/t/slot-1/memory.events", "low 0\noom 3\noom_kill 2\n");
        fake("space/t/slot-1/cgroup.freeze", "0\n");
        fake("space/t/slot-1/cgroup.events", "populated 1\nfrozen 1\n");
        return Cgroups.detect(root, "t");
    }

    @Test
    void versionTwoWritesItsKnobs() throws Exception {
        Cgroups cgroups = versionTwo();
        assertThat(cgroups).isInstanceOf(CgroupsV2.class);
        cgroups.ensure("slot-1");
        assertThat(text("space/t/cgroup.subtree_control")).isEqualTo("+cpu +memory +pids");
        cgroups.limit("slot-1", new Cgroups.Limits(768L << 20, 150, 64));
        assertThat(text("space/t/slot-1/memory.max")).isEqualTo("805306368");
        assertThat(text("space/t/slot-1/memory.swap.max")).isEqualTo("0");
        assertThat(text("space/t/slot-1/cpu.max")).isEqualTo("150000 100000");
        assertThat(text("space/t/slot-1/pids.max")).isEqualTo("64");
        String together = String.valueOf(Math.min(10_000, 200 * CPUS));
        assertThat(text("space/cpu.weight")).isEqualTo(together);
        assertThat(text("space/t/cpu.weight")).isEqualTo(together);
        assertThat(text("cpu.weight")).isEqualTo("100");
        assertThat(cgroups.directories("slot-1")).containsExactly(root.resolve("space/t/slot-1"));
    }

    @Test
    void versionTwoReadsItsFigures() throws Exception {
        Cgroups cgroups = versionTwo();
        assertThat(cgroups.processes("slot-1")).containsExactly(41, 42);
        assertThat(cgroups.processes("slot-2")).isEmpty();
        assertThat(cgroups.figures("slot-1")).isEqualTo(new Cgroups.Figures(1000, 2000, 77, 2));
        assertThat(cgroups.names()).containsExactly("slot-1");
        assertThat(cgroups.frozen("slot-1")).isFalse();
        cgroups.freeze("slot-1", true, Duration.ofSeconds(1));
        assertThat(cgroups.frozen("slot-1")).isTrue();
        assertThatThrownBy(() -> cgroups.freeze("slot-1", false, Duration.ofMillis(10)))
                .hasMessageContaining("frozen 0");
    }

    @Test
    void versionOneUsesEveryHierarchy() throws Exception {
        for (String knob :
                List.of(
                        "memory/space/t/slot-0/memory.limit_in_bytes",
                        "cpu/space/t/slot-0/cpu.cfs_period_us",
                        "cpu/space/t/slot-0/cpu.cfs_quota_us",
                        "cpu/space/t/cpu.shares",
                        "cpu/space/cpu.shares",
                        "pids/space/t/slot-0/pids.max")) {
            fake(knob, "-1\n");
        }
        fake("freezer/space/t/slot-0/freezer.state", "THAWED\n");
        fake("memory/space/t/slot-0/memory.oom_control", "oom_kill_disable 0\noom_kill 5\n");
        fake("pids/space/t/slot-0/cgroup.procs", "9\n");
        Cgroups cgroups = Cgroups.detect(root, "t");
        assertThat(cgroups).isInstanceOf(CgroupsV1.class);
        cgroups.limit("slot-0", new Cgroups.Limits(1 << 20, 50, 32));
        assertThat(text("cpu/space/t/slot-0/cpu.cfs_quota_us")).isEqualTo("50000");
        assertThat(text("memory/space/t/slot-0/memory.limit_in_bytes")).isEqualTo("1048576");
        assertThat(text("cpu/space/cpu.shares")).isEqualTo(String.valueOf(2048 * CPUS));
        assertThat(text("cpu/space/t/cpu.shares")).isEqualTo(String.valueOf(2048 * CPUS));
        assertThat(cgroups.directories("slot-0")).hasSize(4);
        assertThat(cgroups.processes("slot-0")).containsExactly(9);
        assertThat(cgroups.figures("slot-0").oomKills()).isEqualTo(5);
        cgroups.freeze("slot-0", true, Duration.ofSeconds(1));
        assertThat(cgroups.frozen("slot-0")).isTrue();
    }

    @Test
    void aMachineWithoutControllersIsRefused() {
        assertThatThrownBy(() -> Cgroups.detect(root, "t")).hasMessageContaining("controllers");
    }
}
