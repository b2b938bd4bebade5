package dev.space.node.sandbox;

/** Who is told how far a transfer is. */
@FunctionalInterface
public interface TransferProgress {

    void at(long done, long total);
}
