package dev.space.node.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The node token, read again when its file changes. */
final class TokenFile implements Supplier<String> {

    private final Path file;
    private @Nullable FileTime readAt;
    private String token = "";

    TokenFile(Path file) {
        this.file = file;
    }

    @Override
    public synchronized String get() {
        try {
            FileTime modified = Files.getLastModifiedTime(file);
            if (!modified.equals(readAt)) {
                token = Files.readString(file).strip();
                readAt = modified;
            }
            if (token.isEmpty()) {
                throw new IllegalStateException("the token file " + file + " is empty");
            }
            return token;
        } catch (IOException e) {
            throw new UncheckedIOException("the token file " + file + " cannot be read", e);
        }
    }
}
