package dev.space.client;

/** The API refused a request: the problem document that it answered. */
public final class ApiException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;

    public ApiException(int status, String code, String detail) {
        super(detail);
        this.status = status;
        this.code = code;
    }

    public int status() {
        return status;
    }

    /**
     * Name from the error catalogue (docs/errors.md), or HTTP_nnn where the answer was no problem.
     */
    public String code() {
        return code;
    }
}
