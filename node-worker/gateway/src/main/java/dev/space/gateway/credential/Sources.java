package dev.space.gateway.credential;

/**
 * Where all slots have secrets from.
 *
 * @param unsealer of those that are sealed
 * @param vault that has the others
 * @param tokens that some are exchanged for
 */
public record Sources(Unsealer unsealer, VaultSource vault, TokenClient tokens) {}
