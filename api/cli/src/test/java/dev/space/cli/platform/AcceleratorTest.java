package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An accelerator counts by what booted under it, tried once for each boot of the machine. */
class AcceleratorTest {

    @TempDir Path directory;

    private Path cache;
    private Path device;
    private int trials;

    @BeforeEach
    void machine() throws IOException {
        cache = Files.createDirectory(directory.resolve("cache"));
        device = Files.createFile(directory.resolve("kvm"));
    }

    private Accelerator boot(String id, Optional<String> whyNot) {
        return new Accelerator(
                cache,
                device,
                id,
                Optional.of(name -> {
                    assertThat(name).isEqualTo("kvm");
                    trials++;
                    return whyNot;
                }));
    }

    private Accelerator good(String bootId) {
        return boot(bootId, Optional.empty());
    }

    private Accelerator hanging(String bootId) {
        return boot(bootId, Optional.of("it wrote nothing"));
    }

    @Test
    void autoTakesKvmWhereAGuestBootsAndAsksOncePerBoot() {
        assertThat(good("a").choose("auto").name()).isEqualTo("kvm");
        assertThat(good("a").choose("auto").name()).isEqualTo("kvm");
        assertThat(good("a").choose("kvm").name()).isEqualTo("kvm");
        assertThat(trials).isEqualTo(1);
        assertThat(hanging("b").choose("auto").name()).isEqualTo("tcg");
        assertThat(good("b").choose("auto").name()).isEqualTo("tcg");
        assertThat(trials).isEqualTo(2);
    }

    @Test
    void aDeviceThatBootsNothingMeansEmulationOrAClearRefusal() {
        Accelerator.Choice choice = hanging("a").choose("auto");
        assertThat(choice.name()).isEqualTo("tcg");
        assertThat(choice.why()).contains("is there but no kernel boots", "it wrote nothing");
        assertThatThrownBy(() -> hanging("a").choose("kvm"))
                .isInstanceOf(PlatformException.class)
                .hasMessageContaining("space.node.accelerator is kvm")
                .hasMessageContaining("it wrote nothing")
                .hasMessageContaining("auto or tcg")
                .hasMessageContaining("./space doctor");
    }

    @Test
    void whoAsksForATrialGetsOneAndItIsRemembered() {
        assertThat(hanging("a").choose("auto").name()).isEqualTo("tcg");
        assertThat(good("a").tryNow().usable()).isTrue();
        assertThat(trials).isEqualTo(2);
        assertThat(hanging("a").choose("auto").name()).isEqualTo("kvm");
        assertThat(trials).isEqualTo(2);
    }

    @Test
    void emulationAsksNothing() {
        assertThat(good("a").choose("tcg").name()).isEqualTo("tcg");
        assertThat(trials).isZero();
        assertThat(cache).isEmptyDirectory();
    }

    @Test
    void aDeviceThatIsGoneOvercomesWhatIsRemembered() throws Exception {
        assertThat(good("a").choose("auto").name()).isEqualTo("kvm");
        Files.delete(device);
        assertThat(good("a").choose("auto").name()).isEqualTo("tcg");
        assertThatThrownBy(() -> good("a").choose("kvm")).hasMessageContaining("there is no");
        assertThat(trials).isEqualTo(1);
    }

    @Test
    void beforeABundleIsBuiltNothingIsClaimedAndNothingRemembered() {
        Accelerator early = new Accelerator(cache, device, "a", Optional.empty());
        assertThat(early.tryNow().usable()).isFalse();
        assertThat(early.tryNow().why()).contains("no engine bundle is built");
        assertThat(good("a").choose("auto").name()).isEqualTo("kvm");
    }

    @Test
    void aDamagedMemoryIsTriedAgain() throws Exception {
        Files.writeString(cache.resolve("accelerator.json"), "{\"bootId\":");
        assertThat(good("a").choose("auto").name()).isEqualTo("kvm");
        assertThat(trials).isEqualTo(1);
    }
}
