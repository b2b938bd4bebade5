package dev.space.node.rolling;

import dev.space.nativeabi.Extent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which parts of a file are worth rewriting. Each rewritten byte is shared with no snapshot any
 * more, so the parts with the most extents come first, and no more of them than is needed.
 */
final class Windows {

    static final long BYTES = 2L << 20;

    /** With fewer extents a window stays: to rewrite it would cost more than it saves. */
    static final int EXTENTS_MIN = 16;

    private Windows() {}

    /** A part of a file with the extents that begin in it. */
    record Window(long offset, int extents) {}

    /**
     * Empty unless the file has more than {@code most} extents; else what leaves about {@code
     * target}, the densest first.
     */
    static List<Window> toRewrite(List<Extent> extents, int most, int target) {
        if (extents.size() <= most) {
            return List.of();
        }
        Map<Long, Integer> counts = new HashMap<>();
        for (Extent extent : extents) {
            counts.merge(Math.floorDiv(extent.logical(), BYTES), 1, Integer::sum);
        }
        List<Window> densest =
                counts.entrySet().stream()
                        .map(e -> new Window(e.getKey() * BYTES, e.getValue()))
                        .filter(w -> w.extents() >= EXTENTS_MIN)
                        .sorted(
                                Comparator.comparingInt(Window::extents)
                                        .reversed()
                                        .thenComparingLong(Window::offset))
                        .toList();
        List<Window> chosen = new ArrayList<>();
        int left = extents.size();
        for (Window window : densest) {
            if (left <= target) {
                break;
            }
            chosen.add(window);
            left -= window.extents() - 1;
        }
        return chosen;
    }
}
