package dev.space.cli.command;

import java.util.function.Consumer;

/** Progress for people: on stderr, with the seconds since the command began. */
final class Progress implements Consumer<String> {

    private final long began = System.nanoTime();

    @Override
    public void accept(String line) {
        long seconds = (System.nanoTime() - began) / 1_000_000_000L;
        System.err.printf("space: [%3d s] %s%n", seconds, line);
    }
}
