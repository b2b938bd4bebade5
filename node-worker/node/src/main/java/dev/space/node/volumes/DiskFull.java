package dev.space.node.volumes;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Tells a full disk from a broken one; Java has no exception of its own for it. */
public final class DiskFull {

    private static final int CAUSES_MAX = 16;

    private DiskFull() {}

    /** Whether it failed, directly or by what caused it, because there was no space. */
    public static boolean is(Throwable failure) {
        @Nullable Throwable at = failure;
        for (int depth = 0; at != null && depth < CAUSES_MAX; depth++) {
            String message = String.valueOf(at.getMessage());
            if (at instanceof IOException
                    && (message.contains("No space left") || message.contains("quota"))) {
                return true;
            }
            at = at.getCause();
        }
        return false;
    }
}
