package dev.space.store;

import org.jspecify.annotations.Nullable;

/**
 * What the platform does with a session by itself.
 *
 * @param durableEverySeconds how often it is stored while it runs; null: only by a SUSPEND
 * @param idleSeconds after how long without activity {@code idleAction} follows; null: never
 * @param idleAction PAUSE, SUSPEND or DESTROY
 */
public record SessionPolicy(
        @Nullable Long durableEverySeconds,
        @Nullable Long idleSeconds,
        @Nullable String idleAction) {

    public static final SessionPolicy NONE = new SessionPolicy(null, null, null);
}
