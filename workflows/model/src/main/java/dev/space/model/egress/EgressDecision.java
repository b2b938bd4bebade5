package dev.space.model.egress;

import java.util.Optional;

/**
 * What the policy says to one question.
 *
 * @param verdict whether to go on, and whether to say so
 * @param rule the rule that decided, by its place in the policy: {@code allow[2]}; empty where none
 *     did
 * @param reason for people and for counting
 * @param check what the gateway must see before it passes bytes on
 * @param mayBePrivate the name may lead to a private or loopback address
 */
public record EgressDecision(
        Verdict verdict,
        Optional<String> rule,
        EgressReason reason,
        Check check,
        boolean mayBePrivate) {

    /** Whether to go on. */
    public enum Verdict {
        ALLOW,
        DENY,
        /** Would be refused, but the policy only records. */
        DRY_RUN_DENY
    }

    /** What a connection must prove. */
    public enum Check {
        /** Nothing: any protocol. */
        NONE,
        /** TLS whose SNI is the name. */
        TLS_NAME,
        /** HTTP/1 whose every request has the name as its host and is allowed. */
        HTTP_REQUESTS,
        /** TLS whose SNI is the name, looked into: requests as with HTTP_REQUESTS. */
        TLS_REQUESTS
    }

    /** The same with another proof. */
    public EgressDecision with(Check other) {
        return new EgressDecision(verdict, rule, reason, other, mayBePrivate);
    }

    /** Whether to go on: allowed, or only recorded. */
    public boolean proceeds() {
        return verdict != Verdict.DENY;
    }
}
