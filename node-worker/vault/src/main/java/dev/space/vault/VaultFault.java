package dev.space.vault;

/** Why a vault gave no answer that could be used. */
public enum VaultFault {
    UNREACHABLE(true, "the vault cannot be connected to"),
    TOO_SLOW(true, "the vault does not answer in time"),
    SEALED(true, "the vault is sealed, or has no active server"),
    FAILING(true, "the vault fails with an error of its own"),
    BUSY(true, "more is asked of the vault than it answers"),
    LOGIN_REFUSED(false, "the vault refuses the AppRole's log-in"),
    DENIED(false, "the vault's policy does not allow it"),
    ABSENT(false, "the vault has no such version"),
    FOREIGN(false, "what the vault has is not what it should be for"),
    MISCONFIGURED(false, "the vault's settings cannot be used");

    private final boolean passing;
    private final String summary;

    VaultFault(boolean passing, String summary) {
        this.passing = passing;
        this.summary = summary;
    }

    /** Whether it is over when the vault is well again, without a change of rights or content. */
    public boolean isPassing() {
        return passing;
    }

    /** For people; names no address and no secret. */
    public String summary() {
        return summary;
    }
}
