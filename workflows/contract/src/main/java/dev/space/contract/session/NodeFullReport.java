package dev.space.contract.session;

/**
 * The node's disk is nearly full, and the session's sandbox is held so that it writes no more.
 *
 * @param epoch the sandbox that is held; a report about an older one does nothing
 */
public record NodeFullReport(long epoch) {}
