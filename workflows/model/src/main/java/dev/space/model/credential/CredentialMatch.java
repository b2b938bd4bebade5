package dev.space.model.credential;

import dev.space.model.egress.EgressReason;

/** What becomes of one request. */
public sealed interface CredentialMatch {

    /** No credential is for its host: it passes as it is. */
    record None() implements CredentialMatch {}

    /** Exactly one is for it. */
    record One(CredentialGrant grant) implements CredentialMatch {}

    /**
     * It must not pass.
     *
     * @param detail names credentials, and is for the sandbox too
     */
    record Refused(EgressReason reason, String detail) implements CredentialMatch {}
}
