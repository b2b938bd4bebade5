package dev.space.node.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.model.Size;
import dev.space.node.templates.StartFiles;
import dev.space.node.templates.TemplateInfo;
import dev.space.node.templates.TemplateSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A node that waits for a template which nobody built says what to do about it. */
final class PreparationTest {

    private static final Duration MAX = Duration.ofSeconds(20);

    /** A cache with the template minimal only. */
    private static final class OneTemplate implements TemplateSource {
        @Override
        public TemplateInfo info(String digest) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Path root(String digest) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isReady(String digest, Size size) {
            return false;
        }

        @Override
        public StartFiles start(String digest, Size size) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<State> states() {
            return List.of(new State("digest", "minimal", List.of(), true));
        }
    }

    @Test
    void namesWhatIsThereAndTheNextStep() {
        Preparation preparation = new Preparation(new OneTemplate(), List.of("default:small"));
        preparation.start();
        long deadline = System.nanoTime() + MAX.toNanos();
        while (!preparation.waitsFor().contains("nor the object store")
                && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
        assertThat(preparation.waitsFor())
                .contains("template default")
                .contains("it has: minimal")
                .contains("SPACE_TEMPLATES=default ./space prepare")
                .doesNotContain("\"");
    }
}
