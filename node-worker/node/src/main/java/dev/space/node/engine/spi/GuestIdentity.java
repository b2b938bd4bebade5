package dev.space.node.engine.spi;

/**
 * What a guest is told when it becomes a session's sandbox.
 *
 * @param hostname host name inside the sandbox
 * @param maxProcesses user processes that may run at once
 * @param user whom commands run as when the caller names none
 * @param forked the sandbox is a copy of another session's: hooks of the template run in it first
 */
public record GuestIdentity(String hostname, int maxProcesses, String user, boolean forked) {}
