package dev.space.cli.config;

/** The configuration cannot be used; the message names the key and what to do. */
public final class ConfigException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }
}
