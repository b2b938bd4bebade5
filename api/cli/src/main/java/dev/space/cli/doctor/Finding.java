package dev.space.cli.doctor;

/** What one check found, and the command that mends it (empty when nothing is to be done). */
public record Finding(Level level, String text, String mend) {

    /** How bad it is. */
    public enum Level {
        OK,
        NOTE,
        FAULT
    }

    static Finding ok(String text) {
        return new Finding(Level.OK, text, "");
    }

    static Finding note(String text, String mend) {
        return new Finding(Level.NOTE, text, mend);
    }

    static Finding fault(String text, String mend) {
        return new Finding(Level.FAULT, text, mend);
    }
}
