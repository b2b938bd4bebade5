package dev.space.node.rolling;

import dev.space.nativeabi.Defragment;
import dev.space.nativeabi.Durable;
import dev.space.nativeabi.ExtentMap;
import dev.space.node.rolling.Windows.Window;
import dev.space.node.sandbox.RollingView;
import dev.space.node.sandbox.Sandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the files of running VMs in few extents. Each snapshot makes the guest's next writes
 * extents of their own, and a checkpoint clones memory and disk while the guest stands still, which
 * takes about 6 microseconds for each extent: after an hour of snapshots of a guest that writes all
 * over its memory that would be half a second. The VM does not notice; what is rewritten is on the
 * device before the next part of it is begun, so that a checkpoint that comes in between has little
 * to write.
 */
public final class Compaction {

    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);

    /** A clone of that many takes about 25 ms. */
    static final int EXTENTS_MAX = 4096;

    static final int EXTENTS_TARGET = 1024;

    /** Rewritten before it is synced. */
    private static final int SYNCED_WINDOWS = 8;

    /** Longer extents are few and stay as they are. */
    private static final int SMALLER_THAN = 256 << 10;

    private final RollingView view;
    private final RollingSettings settings;
    private final RollingSnapshots.Space space;

    /**
     * Extents that were left of a file the last time: where they are many, they are there to stay.
     */
    private final Map<Path, Integer> left = new HashMap<>();

    public Compaction(RollingView view, RollingSettings settings, RollingSnapshots.Space space) {
        this.view = view;
        this.settings = settings;
        this.space = space;
    }

    /** Every running sandbox, one after the other. */
    public void look() {
        left.keySet().removeIf(file -> !Files.exists(file));
        for (Sandbox sandbox : view.sandboxes()) {
            if (space.freeBytes() < settings.reserveBytes()) {
                return;
            }
            view.files(sandbox)
                    .ifPresent(files -> {
                        compact(sandbox, files.ram());
                        compact(sandbox, files.disk());
                    });
        }
    }

    private void compact(Sandbox sandbox, Path file) {
        try {
            int most = Math.max(EXTENTS_MAX, left.getOrDefault(file, 0) + EXTENTS_TARGET);
            List<Window> windows = Windows.toRewrite(ExtentMap.asItIs(file), most, EXTENTS_TARGET);
            for (int i = 0; i < windows.size(); i++) {
                Defragment.range(file, windows.get(i).offset(), Windows.BYTES, SMALLER_THAN);
                if (i % SYNCED_WINDOWS == SYNCED_WINDOWS - 1 || i == windows.size() - 1) {
                    Durable.fdatasync(file);
                }
            }
            if (!windows.isEmpty()) {
                int now = ExtentMap.asItIs(file).size();
                left.put(file, now);
                LOG.info(
                        "rewrote {} MiB of {} of {}; it has {} extents now",
                        (windows.size() * Windows.BYTES) >> 20,
                        file.getFileName(),
                        sandbox.session(),
                        now);
            }
        } catch (IOException e) {
            if (view.files(sandbox).isPresent()) {
                LOG.warn("{} of {} stays in pieces", file, sandbox.session(), e);
            }
        }
    }
}
