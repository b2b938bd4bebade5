package dev.space.node.dataplane;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The lives that a process has had. Each start of a sandbox begins one: the snapshot that it is
 * started from may be a moment to which the session went back, after readers had seen more. Whoever
 * reads on names the life in which it read; what it has read is of the present exactly when no
 * later life began before that offset.
 *
 * @param past the ended ones, oldest first
 * @param now the present one
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record Lives(List<Ended> past, String now) {

    /** Readers that slept through more than that many starts are told to begin again. */
    static final int PAST_MAX = 64;

    private static final int ID_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** A life, and how much of each output there was when the next one began. */
    record Ended(String id, long stdout, long stderr) {
        long end(boolean ofStderr) {
            return ofStderr ? stderr : stdout;
        }
    }

    static Lives first(String life) {
        return new Lives(List.of(), life);
    }

    Lives next(String life, long stdout, long stderr) {
        List<Ended> all = new ArrayList<>(past);
        all.add(new Ended(now, stdout, stderr));
        return new Lives(
                List.copyOf(all.subList(Math.max(0, all.size() - PAST_MAX), all.size())), life);
    }

    /** True when who read up to an offset in that life has read what is true today. */
    boolean agree(String life, boolean ofStderr, long offset) {
        if (life.equals(now)) {
            return true;
        }
        boolean known = false;
        for (Ended ended : past) {
            known = known || ended.id().equals(life);
            if (known && offset > ended.end(ofStderr)) {
                return false;
            }
        }
        return known;
    }

    /**
     * A new life of a sandbox, kept for {@link #of}. Not synced: what a crash of the machine takes
     * with it ends the sandbox too.
     */
    static String begin(Path file) {
        byte[] id = new byte[ID_BYTES];
        RANDOM.nextBytes(id);
        String life = HexFormat.of().formatHex(id);
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, life, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return life;
    }

    /** The life of a sandbox that runs on; another one where nobody wrote it down. */
    static String of(Path file) {
        try {
            String life = Files.readString(file, StandardCharsets.US_ASCII);
            return life.length() == 2 * ID_BYTES ? life : begin(file);
        } catch (NoSuchFileException e) {
            return begin(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
