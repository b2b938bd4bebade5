package dev.space.node.engine.qemu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.space.model.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory made under one accelerator, or on another CPU, is never loaded under this one. */
class AcceleratorTest {

    private static final String DIGEST = "ab".repeat(32);
    @TempDir Path directory;

    private Accelerator kvm(String mhz, String flags) throws IOException {
        Path file =
                Files.writeString(
                        directory.resolve("cpuinfo"),
                        """
                        processor\t: 0
                        vendor_id\t: GenuineIntel
                        cpu family\t: 6
                        model\t\t: 106
                        cpu MHz\t\t: %s
                        flags\t\t: %s

                        processor\t: 1
                        flags\t\t: none
                        """
                                .formatted(mhz, flags));
        return Accelerator.kvm(file);
    }

    @Test
    void emulationKeepsThePlainNameOfItsBundle() {
        Accelerator tcg = Accelerator.emulation();
        assertThat(tcg.bundle(DIGEST)).isEqualTo(DIGEST);
        assertThat(tcg.loads(DIGEST)).isTrue();
        assertThat(line(tcg)).containsSequence("-accel", "tcg,thread=multi,tb-size=128");
    }

    @Test
    void eachLoadsItsOwnAndNotTheOthers() throws Exception {
        Accelerator tcg = Accelerator.emulation();
        Accelerator kvm = kvm("2100.0", "fpu sse2");
        assertThat(kvm.loads(kvm.bundle(DIGEST))).isTrue();
        assertThat(kvm.loads(tcg.bundle(DIGEST))).isFalse();
        assertThat(tcg.loads(kvm.bundle(DIGEST))).isFalse();
        assertThat(Accelerator.digest(kvm.bundle(DIGEST))).isEqualTo(DIGEST);
        assertThat(Accelerator.digest(tcg.bundle(DIGEST))).isEqualTo(DIGEST);
        assertThat(line(kvm)).containsSequence("-accel", "kvm");
    }

    @Test
    void underKvmTheCpuIsPartOfTheName() throws Exception {
        String here = kvm("2100.0", "fpu sse2 avx").bundle(DIGEST);
        assertThat(here).matches(DIGEST + "\\+kvm\\.[0-9a-f]{16}");
        assertThat(kvm("3000.0", "avx fpu sse2").loads(here)).as("rate and order").isTrue();
        assertThat(kvm("2100.0", "fpu sse2").loads(here)).as("one feature less").isFalse();
    }

    @Test
    void nothingElseIsKnown() {
        assertThatThrownBy(() -> Accelerator.of("auto"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("space.node.accelerator");
    }

    private static List<String> line(Accelerator accelerator) {
        return QemuArguments.of(Size.SMALL, false, 2_000_000, accelerator);
    }
}
