package dev.space.contract.session;

/**
 * What happens to the session at a time.
 *
 * @param atMillis Unix time in milliseconds
 */
public record DeadlinePolicy(long atMillis, PolicyAction action) {}
