package dev.space.contract.session;

/**
 * The organisation's key is revoked.
 *
 * @param epoch the sandbox that is to end; a report about an older one does nothing
 */
public record KeyRevokedReport(long epoch) {}
