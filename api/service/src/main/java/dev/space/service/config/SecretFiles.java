package dev.space.service.config;

import dev.space.model.ErrorCode;
import dev.space.model.Secret;
import dev.space.model.SpaceException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads secrets from files, so that none is ever in a command line or a setting. */
public final class SecretFiles {
    /** No secret of the platform is longer. */
    private static final int BYTES_MAX = 4096;

    private SecretFiles() {}

    /** The file's text without white space around it. */
    public static Secret read(String name, Path file) {
        try {
            if (Files.size(file) > BYTES_MAX) {
                throw new SpaceException(
                        ErrorCode.INTERNAL, name + ": " + file + " is too long for a secret");
            }
            return Secret.ofText(name, Files.readString(file, StandardCharsets.UTF_8).strip());
        } catch (IOException failure) {
            throw new SpaceException(
                    ErrorCode.INTERNAL, name + ": " + file + " cannot be read", failure);
        }
    }
}
