package dev.space.node.egress;

/** An address that stands for a name in one session, and in what is made of its snapshots. */
public record SyntheticAddress(String name, String address) {}
