package dev.space.cli.supervisor;

import dev.space.cli.platform.NodePlace;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which sessions have a VM on this machine right now. Asked of the kernel, because it is asked when
 * nothing else may answer: a VM runs under a slot's uid, and its jail has the session's files.
 */
final class RunningSandboxes {

    private static final Pattern FILES = Pattern.compile("/sessions/(ses_[a-z2-7]+)/");

    private final List<NodePlace> places;
    private final int uidBase;
    private final int slots;
    private final Path proc;

    /**
     * @param uidBase as configured for the first node
     */
    RunningSandboxes(List<NodePlace> places, int uidBase, int slots) {
        this(places, uidBase, slots, Path.of("/proc"));
    }

    RunningSandboxes(List<NodePlace> places, int uidBase, int slots, Path proc) {
        this.places = List.copyOf(places);
        this.uidBase = uidBase;
        this.slots = slots;
        this.proc = proc;
    }

    Set<String> sessions() {
        Set<String> found = new TreeSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                look(process, found);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return found;
    }

    private void look(Path process, Set<String> found) {
        try {
            if (isSlots(uid(process))) {
                Matcher files = FILES.matcher(Files.readString(process.resolve("mountinfo")));
                while (files.find()) {
                    found.add(files.group(1));
                }
            }
        } catch (IOException _) {
            // It has ended meanwhile.
        }
    }

    private static int uid(Path process) throws IOException {
        return (Integer) Files.getAttribute(process, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isSlots(int uid) {
        return places.stream()
                .mapToInt(place -> place.uidBase(uidBase))
                .anyMatch(base -> uid >= base && uid < base + slots);
    }
}
