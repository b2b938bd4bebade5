package dev.space.node.engine.qemu;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The engine bundles in the machine's cache. */
public record Bundles(Path cache) {

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    boolean has(String digest) {
        return DIGEST.matcher(digest).matches()
                && Files.isRegularFile(directory(digest).resolve("bundle.json"));
    }

    public Path directory(String digest) {
        return cache.resolve("bundles").resolve(digest);
    }
}
