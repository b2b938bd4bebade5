package dev.space.node.rolling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.nativeabi.Extent;
import dev.space.node.rolling.Windows.Window;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** No more is rewritten than is needed, and what costs least for what it saves comes first. */
final class WindowsTest {

    private static final int PAGE = 4096;

    /** So many extents at the begin of a window. */
    private static void add(List<Extent> to, int window, int extents) {
        for (int i = 0; i < extents; i++) {
            to.add(new Extent(window * Windows.BYTES + (long) i * PAGE, 0, PAGE, 0));
        }
    }

    @Test
    void aFileThatIsCheapToCloneStays() {
        List<Extent> extents = new ArrayList<>();
        add(extents, 0, 100);
        assertThat(Windows.toRewrite(extents, 100, 10)).isEmpty();
    }

    @Test
    void theDensestGoFirstUntilFewAreLeft() {
        List<Extent> extents = new ArrayList<>();
        add(extents, 0, 20);
        add(extents, 1, 200);
        add(extents, 2, 100);
        add(extents, 7, 100);
        assertThat(Windows.toRewrite(extents, 400, 150))
                .containsExactly(new Window(Windows.BYTES, 199), new Window(2 * Windows.BYTES, 99));
        assertThat(Windows.toRewrite(extents, 400, 1)).hasSize(4);
    }

    /** Holes between them: nothing that could be joined. */
    @Test
    void whatLiesBetweenHolesStays() {
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            extents.add(new Extent(2L * i * PAGE, 0, PAGE, 0));
        }
        assertThat(Windows.toRewrite(extents, 100, 10)).isEmpty();
    }

    @Test
    void whereFewExtentsWouldBeSavedNothingIsRewritten() {
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            add(extents, i, Windows.SEAMS_MIN);
        }
        assertThat(Windows.toRewrite(extents, 10, 1)).isEmpty();
    }
}
