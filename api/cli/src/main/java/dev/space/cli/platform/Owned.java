package dev.space.cli.platform;

import dev.space.cli.platform.Users.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Makes directories and files with owner and mode as they must be, whatever the umask says. */
public final class Owned {

    private static final int MODE_BITS = 07777;
    private static final int SET_GROUP = 02000;

    private Owned() {}

    public static Path directory(Path path, User owner, String mode) {
        try {
            Files.createDirectories(path);
            own(path, owner);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
            return path;
        } catch (IOException e) {
            throw new PlatformException("cannot make " + path + ": " + e.getMessage(), e);
        }
    }

    /** What is made in the directory from now on gets its group. */
    public static void inheritGroup(Path directory) {
        try {
            int mode = (int) Files.getAttribute(directory, "unix:mode") & MODE_BITS;
            Files.setAttribute(directory, "unix:mode", mode | SET_GROUP);
        } catch (IOException e) {
            throw new PlatformException("cannot set " + directory + " right", e);
        }
    }

    /** A file that is there gets its owner and mode back. */
    public static Path file(Path path, User owner, String mode) {
        try {
            own(path, owner);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
            return path;
        } catch (IOException e) {
            throw new PlatformException("cannot set " + path + " right: " + e.getMessage(), e);
        }
    }

    /** Writes a file that only its owner can read; never readable for others in between. */
    public static Path secret(Path path, User owner, String content) {
        try {
            Path next = path.resolveSibling("." + path.getFileName() + ".new");
            Files.deleteIfExists(next);
            Files.createFile(
                    next,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------")));
            Files.writeString(next, content, StandardOpenOption.WRITE);
            own(next, owner);
            Files.move(
                    next,
                    path,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            return path;
        } catch (IOException e) {
            throw new PlatformException("cannot write " + path + ": " + e.getMessage(), e);
        }
    }

    private static void own(Path path, User owner) throws IOException {
        Files.setAttribute(path, "unix:uid", owner.uid());
        Files.setAttribute(path, "unix:gid", owner.gid());
    }
}
