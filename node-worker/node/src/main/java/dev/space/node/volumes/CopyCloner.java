package dev.space.node.volumes;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Copies every byte. Only for the fake engine, whose files are small: a real sandbox's files must
 * share blocks, and a silent copy would hide that they do not.
 */
public final class CopyCloner implements FileCloner {

    @Override
    public void cloneFile(Path source, Path target) throws IOException {
        Files.copy(source, target);
    }

    @Override
    public void cloneInto(Path source, Path existing) throws IOException {
        try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel to = FileChannel.open(existing, StandardOpenOption.WRITE)) {
            to.truncate(0);
            long size = from.size();
            long at = 0;
            while (at < size) {
                at += from.transferTo(at, size - at, to);
            }
        }
    }
}
