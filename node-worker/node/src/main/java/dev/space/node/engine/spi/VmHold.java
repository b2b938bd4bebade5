package dev.space.node.engine.spi;

/**
 * Holds a VM from outside, as a whole and at once. Whoever works on the VM comes first: from {@link
 * #aside} to {@link #allow} it cannot be held, and what held it is undone.
 */
public final class VmHold {

    private final Runnable freeze;
    private final Runnable thaw;
    private boolean aside;
    private boolean interrupted;
    private volatile boolean held;

    /** Both are repeatable. */
    public VmHold(Runnable freeze, Runnable thaw) {
        this.freeze = freeze;
        this.thaw = thaw;
    }

    /** False while somebody works on the VM. */
    public synchronized boolean hold() {
        if (aside) {
            return false;
        }
        if (!held) {
            freezeNow();
        }
        return true;
    }

    /** Said before it is so: no call into the guest begins any more. */
    private void freezeNow() {
        held = true;
        boolean done = false;
        try {
            freeze.run();
            done = true;
        } finally {
            held = done;
        }
    }

    /** Undoes {@link #hold}. */
    public synchronized void letGo() {
        if (held) {
            thaw.run();
            held = false;
        }
    }

    /** Let go for as long as its adoption takes; an earlier process may have held it. */
    public synchronized void interrupt() {
        letGo();
        interrupted = true;
    }

    /** After {@link #interrupt} it is held again, until there is a reason to let it go. */
    public synchronized void goBack() {
        if (interrupted) {
            interrupted = false;
            var _ = hold();
        }
    }

    /** The VM is needed: it goes on, and is not held before {@link #allow}. */
    public synchronized void aside() {
        letGo();
        aside = true;
    }

    public synchronized void allow() {
        aside = false;
    }

    public boolean isHeld() {
        return held;
    }
}
