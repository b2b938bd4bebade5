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

    /** With fewer seams a window stays: to rewrite it would cost more than it saves. */
    static final int SEAMS_MIN = 16;

    private Windows() {}

    /** A part of a file, and how often in it an extent goes on where another one ended. */
    record Window(long offset, int seams) {}

    /**
     * Empty unless the file has more than {@code most} extents; else what leaves about {@code
     * target}, the densest first. What lies between holes stays as it is: only what is contiguous
     * in the file can become one extent.
     */
    static List<Window> toRewrite(List<Extent> extents, int most, int target) {
        if (extents.size() <= most) {
            return List.of();
        }
        Map<Long, Integer> seams = new HashMap<>();
        long end = -1;
        for (Extent extent : extents) {
            if (extent.logical() == end) {
                seams.merge(Math.floorDiv(end, BYTES), 1, Integer::sum);
            }
            end = extent.logical() + extent.length();
        }
        List<Window> densest =
                seams.entrySet().stream()
                        .map(e -> new Window(e.getKey() * BYTES, e.getValue()))
                        .filter(w -> w.seams() >= SEAMS_MIN)
                        .sorted(
                                Comparator.comparingInt(Window::seams)
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
            left -= window.seams();
        }
        return chosen;
    }
}
