package dev.space.vault;

import io.github.jopenlibs.vault.VaultException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;

/** Translates the driver's failures, whose messages are not passed on. */
final class Faults {

    private static final int PRECONDITION = 412;

    private Faults() {}

    static VaultFailure of(VaultException failure) {
        int status = failure.getHttpStatusCode();
        if (status != 0) {
            return ofStatus(status);
        }
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof HttpConnectTimeoutException) {
                return new VaultFailure(VaultFault.UNREACHABLE, "");
            }
            if (t instanceof HttpTimeoutException || t instanceof InterruptedException) {
                return new VaultFailure(VaultFault.TOO_SLOW, "");
            }
        }
        return new VaultFailure(VaultFault.UNREACHABLE, "");
    }

    static VaultFailure ofStatus(int status) {
        VaultFault fault =
                switch (status) {
                    case 403 -> VaultFault.DENIED;
                    case 404 -> VaultFault.ABSENT;
                    case 429 -> VaultFault.BUSY;
                    case 472, 473, 503 -> VaultFault.SEALED;
                    case 400, 405, PRECONDITION -> VaultFault.MISCONFIGURED;
                    default -> VaultFault.FAILING;
                };
        return new VaultFailure(fault, fault == VaultFault.FAILING ? "status " + status : "");
    }
}
