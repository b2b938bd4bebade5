package dev.space.contract.session;

import org.jspecify.annotations.Nullable;

/**
 * The session was idle for its policy's time.
 *
 * @param epoch the sandbox that was idle; a report about an older one does nothing
 * @param action what the policy says now; null in reports of older releases, which knew of no
 *     change: what it said when the session was created
 */
public record IdleReport(long epoch, long idleSinceMillis, @Nullable PolicyAction action) {}
