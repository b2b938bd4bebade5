package dev.space.vault;

/**
 * A call of the vault that did not do. Its message is the fault's sentence and what the operator
 * can do; never what the vault answered, which may hold anything.
 */
public final class VaultFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final VaultFault fault;

    VaultFailure(VaultFault fault, String detail) {
        super(fault.summary() + (detail.isEmpty() ? "" : ": " + detail));
        this.fault = fault;
    }

    /** One that was found without asking the vault. */
    public static VaultFailure of(VaultFault fault) {
        return new VaultFailure(fault, "");
    }

    /** Which one. */
    public VaultFault fault() {
        return fault;
    }
}
