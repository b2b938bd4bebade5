package dev.space.node.engine.spi;

/** When the guest was last busy, by its own account, and the processor time it used. */
public record GuestActivity(long lastActiveUnixMillis, long cpuMicros) {}
