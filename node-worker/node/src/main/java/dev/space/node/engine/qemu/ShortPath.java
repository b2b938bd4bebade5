package dev.space.node.engine.qemu;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;

/** Connects to a socket whose path may be longer than a socket address can be. */
final class ShortPath {

    private static final int BYTES_MAX = 100;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private ShortPath() {}

    static SocketChannel connect(Path socket) throws IOException {
        if (socket.toString().getBytes(StandardCharsets.UTF_8).length <= BYTES_MAX) {
            return SocketChannel.open(UnixDomainSocketAddress.of(socket));
        }
        Path directory = socket.toAbsolutePath().getParent();
        if (directory == null) {
            throw new IOException("a socket without a directory: " + socket);
        }
        try (FileChannel held = FileChannel.open(directory, StandardOpenOption.READ)) {
            Path shorter = descriptorOf(directory.toRealPath()).resolve(socket.getFileName());
            if (!held.isOpen()) {
                throw new IOException("closed: " + directory);
            }
            return SocketChannel.open(UnixDomainSocketAddress.of(shorter));
        }
    }

    private static Path descriptorOf(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(DESCRIPTORS)) {
            for (Path descriptor : all.toList()) {
                if (directory.equals(targetOf(descriptor))) {
                    return descriptor;
                }
            }
        }
        throw new IOException("no descriptor of " + directory);
    }

    private static Path targetOf(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            // Closed meanwhile by its owner.
            return descriptor;
        }
    }
}
