package dev.space.node.sandbox;

/** Named places inside the steps where a test ends the process, so to speak, by throwing. */
@FunctionalInterface
public interface CrashPoints {

    /** What production uses. */
    CrashPoints NONE = name -> {};

    void at(String name);
}
