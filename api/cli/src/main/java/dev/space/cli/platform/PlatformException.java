package dev.space.cli.platform;

/** Something on this machine is not as the platform needs it; the message names the next step. */
public final class PlatformException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public PlatformException(String message) {
        super(message);
    }

    public PlatformException(String message, Throwable cause) {
        super(message, cause);
    }
}
