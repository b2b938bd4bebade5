package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The trial itself with the real QEMU: what works is seen to work, what hangs is ended. */
class KernelBootIT {

    private static final Duration EMULATED_MAX = Duration.ofSeconds(90);

    private static KernelBoot boot() {
        String cache = System.getenv().getOrDefault("SPACE_TEST_CACHE", "/var/cache/space");
        Optional<KernelBoot> boot = KernelBoot.of(Path.of(cache));
        if (boot.isEmpty()) {
            System.out.println("KernelBootIT: not run here: no engine bundle in " + cache);
        }
        assumeTrue(boot.isPresent(), "needs an engine bundle in " + cache);
        return boot.orElseThrow();
    }

    @Test
    void aKernelBootsByEmulation() {
        assertThat(boot().whyNot("tcg", EMULATED_MAX)).isEmpty();
    }

    @Test
    void whatCannotBootInTimeIsEndedAndSaysHowFarItCame() {
        assertThat(boot().whyNot("tcg", Duration.ofSeconds(1))).isPresent();
    }

    @Test
    void anUnknownAcceleratorSaysWhy() {
        assertThat(boot().whyNot("nonsense", EMULATED_MAX).orElse(""))
                .contains("did not get through")
                .contains("nonsense");
    }
}
