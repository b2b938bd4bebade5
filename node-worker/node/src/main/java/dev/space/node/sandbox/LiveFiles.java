package dev.space.node.sandbox;

import dev.space.model.Size;
import dev.space.node.engine.spi.GuestToken;
import dev.space.node.engine.spi.Slot;
import dev.space.node.engine.spi.VmFiles;
import dev.space.node.volumes.DurableFiles;
import dev.space.node.volumes.Json;
import dev.space.node.volumes.Volume;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Makes and closes the {@code live/} directory of a VM. */
public final class LiveFiles {

    private static final String PROCESSES = "processes";

    private final Volume volume;
    private final boolean sized;

    /**
     * @param sized false for an engine whose files have no size of their own
     */
    public LiveFiles(Volume volume, boolean sized) {
        this.volume = volume;
        this.sized = sized;
    }

    /**
     * What a VM's files are cloned from.
     *
     * @param directory holds {@code disk}, and for a restore {@code ram} and {@code device}
     * @param disk the disk to clone
     */
    public record Source(Path directory, Path disk, boolean memory) {}

    /** Makes the files in staging, gives them to the slot's group, and moves them into place. */
    public VmFiles make(Path live, Source source, Slot slot, Size size, GuestToken token) {
        Path staged = volume.newStaging("live");
        try {
            VmFiles files = new VmFiles(staged);
            volume.cloner().cloneFile(source.disk(), files.disk());
            if (source.memory()) {
                volume.cloner().cloneFile(source.directory().resolve("ram"), files.ram());
                volume.cloner().cloneFile(source.directory().resolve("device"), files.device());
            } else {
                grow(files.disk(), (long) size.diskMiB() << 20);
                Files.createFile(files.ram());
                grow(files.ram(), (long) size.memoryMiB() << 20);
                Files.createFile(files.device());
            }
            Files.createFile(files.console());
            cloneProcesses(source.directory(), staged);
            writeSecrets(staged, token);
            give(files, slot);
        } catch (IOException e) {
            volume.discard(staged);
            throw volume.failed("make the files of " + live, e);
        }
        volume.discard(live);
        volume.moveIntoPlace(staged, live);
        return new VmFiles(live);
    }

    /** Files of the right size with nothing in them, for a VM that is told later what to load. */
    public VmFiles makeEmpty(Path live, Slot slot, Size size) {
        volume.makeDirectory(live);
        VmFiles files = new VmFiles(live);
        try {
            for (Path file : shared(files)) {
                Files.createFile(file);
            }
            grow(files.disk(), (long) size.diskMiB() << 20);
            grow(files.ram(), (long) size.memoryMiB() << 20);
            give(files, slot);
        } catch (IOException e) {
            throw volume.failed("make the files of " + live, e);
        }
        return files;
    }

    /** Gives empty files the content of a snapshot; the VMM that has them open sees it. */
    void fill(VmFiles files, Source source) {
        try {
            sameLength(source.disk(), files.disk());
            sameLength(source.directory().resolve("ram"), files.ram());
            volume.cloner().cloneInto(source.disk(), files.disk());
            volume.cloner().cloneInto(source.directory().resolve("ram"), files.ram());
            volume.cloner().cloneInto(source.directory().resolve("device"), files.device());
            cloneProcesses(source.directory(), files.directory());
        } catch (IOException e) {
            throw volume.failed("fill " + files.directory(), e);
        }
    }

    /** The VMM has looked at the lengths already. */
    private void sameLength(Path from, Path to) throws IOException {
        if (sized && Files.size(from) != Files.size(to)) {
            throw new IOException(from + " has another length than the size says");
        }
    }

    /** Files of a VM that ran for nobody become a session's, under the token it gets now. */
    VmFiles moveIn(VmFiles from, Path live, GuestToken token) {
        try {
            Files.deleteIfExists(from.directory().resolve(GuestSecrets.FILE));
            writeSecrets(from.directory(), token);
        } catch (IOException e) {
            throw volume.failed("make the files of " + live, e);
        }
        volume.discard(live);
        volume.moveIntoPlace(from.directory(), live);
        return new VmFiles(live);
    }

    private static void writeSecrets(Path live, GuestToken token) throws IOException {
        Path file = live.resolve(GuestSecrets.FILE);
        Files.write(file, Json.MAPPER.writeValueAsBytes(new GuestSecrets(token)));
        mode(file, "rw-------");
    }

    private void grow(Path file, long bytes) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            if (sized && open.length() < bytes) {
                open.setLength(bytes);
            }
        }
    }

    private static List<Path> shared(VmFiles files) {
        return List.of(files.disk(), files.ram(), files.device(), files.console());
    }

    private static void give(VmFiles files, Slot slot) throws IOException {
        for (Path file : shared(files)) {
            group(file, slot);
            mode(file, "rw-rw----");
        }
        group(files.directory(), slot);
        mode(files.directory(), "rwx--x---");
    }

    private static void group(Path path, Slot slot) throws IOException {
        if (slot.gid() != Slot.NO_GROUP) {
            Files.setAttribute(path, "unix:gid", slot.gid(), LinkOption.NOFOLLOW_LINKS);
        }
    }

    private static void mode(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    /** Takes the files away from the slot's group, before the slot is given to another VM. */
    public void takeBack(Path live) {
        if (!Files.isDirectory(live, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            mode(live, "rwx------");
            for (Path file : shared(new VmFiles(live))) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    mode(file, "rw-------");
                }
            }
        } catch (IOException e) {
            throw volume.failed("take back the files of " + live, e);
        }
    }

    /** Clones a stopped VM's files, and the output of its processes, into a staged directory. */
    public void cloneStopped(VmFiles files, Path staged) throws IOException {
        volume.cloner().cloneFile(files.ram(), staged.resolve("ram"));
        volume.cloner().cloneFile(files.disk(), staged.resolve("disk"));
        volume.cloner().cloneFile(files.device(), staged.resolve("device"));
        cloneProcesses(files.directory(), staged);
    }

    private void cloneProcesses(Path from, Path to) throws IOException {
        Path target = to.resolve(PROCESSES);
        Files.createDirectory(target);
        mode(target, "rwx------");
        for (Path process : Volume.children(from.resolve(PROCESSES))) {
            Path copy = target.resolve(process.getFileName());
            Files.createDirectory(copy);
            for (Path file : Volume.children(process)) {
                volume.cloner().cloneFile(file, copy.resolve(file.getFileName()));
            }
        }
    }

    public static Path processes(Path live) {
        return live.resolve(PROCESSES);
    }

    GuestToken token(Path live) {
        try {
            return Json.MAPPER
                    .readValue(
                            Files.readAllBytes(live.resolve(GuestSecrets.FILE)), GuestSecrets.class)
                    .token();
        } catch (IOException e) {
            throw volume.failed("read the guest's secrets in " + live, e);
        }
    }

    /** Logical size of a snapshot's files. */
    static long bytes(Path directory) throws IOException {
        long sum = 0;
        for (String name : List.of("disk", "ram", "device")) {
            Path file = directory.resolve(name);
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                sum += Files.size(file);
            }
        }
        return sum;
    }

    static void syncAll(VmFiles files) throws IOException {
        DurableFiles.syncFile(files.ram());
        DurableFiles.syncFile(files.disk());
    }
}
