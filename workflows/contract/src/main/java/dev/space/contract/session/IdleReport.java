package dev.space.contract.session;

/**
 * The session was idle for its policy's time.
 *
 * @param epoch the sandbox that was idle; a report about an older one does nothing
 */
public record IdleReport(long epoch, long idleSinceMillis) {}
