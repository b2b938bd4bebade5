package dev.space.node.volumes;

import dev.space.nativeabi.Reflink;
import java.io.IOException;
import java.nio.file.Path;

/** Shares blocks (FICLONE) and fails where the file system cannot. */
public final class ReflinkCloner implements FileCloner {

    @Override
    public void cloneFile(Path source, Path target) throws IOException {
        Reflink.clone(source, target);
    }

    @Override
    public void cloneInto(Path source, Path existing) throws IOException {
        Reflink.cloneInto(source, existing);
    }
}
