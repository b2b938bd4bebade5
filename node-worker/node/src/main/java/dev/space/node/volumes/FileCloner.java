package dev.space.node.volumes;

import java.io.IOException;
import java.nio.file.Path;

/** Makes a file with the content of another, sharing its blocks where the file system can. */
public interface FileCloner {

    /** The target must not exist. */
    void cloneFile(Path source, Path target) throws IOException;

    /** Replaces the content of an existing file, keeping its inode. */
    void cloneInto(Path source, Path existing) throws IOException;
}
